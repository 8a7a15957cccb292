package lowering

import "github.com/meshproof/meshproof/policy/kuma/internal/permission"

// mergeLists merges the confs of all rules in order of concatenation.
func MergeLists(ps []permission.Policy) *[3][]permission.Matcher {
	confs := make([]conf, 0, len(ps))
	for i := range ps {
		for j := range ps[i].Rules {
			confs = append(confs, confOf(&ps[i].Rules[j].Lists))
		}
	}
	return merge(confs).lists()
}
