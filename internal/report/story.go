package report

// story is the cases of a run that belong to one story.
type story struct {
	Name  string
	Cases []Case
}

// stories groups the cases of a run by story, in the order in which they come first.
func (r Run) stories() []story {
	var out []story
	at := map[string]int{}
	for _, c := range r.Cases {
		name := orElse(c.Story, "no story")
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, story{Name: name})
		}
		out[i].Cases = append(out[i].Cases, c)
	}
	return out
}

// problems returns all that went wrong with a case, each with its request.
func (c Case) problems() []string {
	var out []string
	if c.Error != "" {
		out = append(out, c.Error)
	}
	asked := askings(c)
	for i, q := range c.Requests {
		for _, problem := range q.Problems {
			out = append(out, asked[i].String()+": "+problem)
		}
	}
	return out
}
