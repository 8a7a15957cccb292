package report

import "cmp"

// Story has the cases of a run that belong to one story.
type Story struct {
	Name  string
	Cases []Case
}

// Stories groups the cases of a run by story, in the order in which the stories first appear.
func (r Run) Stories() []Story {
	var out []Story
	at := map[string]int{}
	for _, c := range r.Cases {
		name := cmp.Or(c.Story, "no story")
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Story{Name: name})
		}
		out[i].Cases = append(out[i].Cases, c)
	}
	return out
}

// Problems returns all problems of a case, each with its request.
func (c Case) Problems() []string {
	var out []string
	if c.Error != "" {
		out = append(out, c.Error)
	}
	asked := Askings(c)
	for i, q := range c.Requests {
		for _, problem := range q.Problems {
			out = append(out, asked[i].String()+": "+problem)
		}
	}
	return out
}
