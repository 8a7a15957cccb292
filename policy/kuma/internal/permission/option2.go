package permission

// mergedOrigin is the origin of every verdict of Option 2 that a matcher gave. Once
// the lists of all policies are one, no single policy can be named; Envoy refuses
// an action without a name.
const mergedOrigin = kindName

// mergeLists merges the confs of all rules in order of concatenation.
func mergeLists(ps []Policy) *[3][]matcher {
	confs := make([]conf, 0, len(ps))
	for i := range ps {
		for j := range ps[i].rules {
			confs = append(confs, confOf(&ps[i].rules[j].lists))
		}
	}
	return merge(confs).lists()
}
