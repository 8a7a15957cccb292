package permission

import (
	"github.com/meshproof/meshproof/policy/manifest"
)

// Release is a policy as a release of Kuma up to 2.14 has it, which does not have a part of it.
type Release struct {
	Policy *Policy
	// Why names the part.
	Why string
	// Left is the policy as the release has it: none where it has no rule then.
	Left []manifest.Document
	// Refused is true where the release does not take the policy.
	Refused bool
}

// Releases returns what a release makes of the policies with parts that it does not have. A part that a policy of before has
// is left out: the control plane knows it. Without policies of before nothing is known.
func Releases(before, ps []Policy) (out []Release) {
	known := map[string]bool{}
	for _, d := range drafts {
		for i := range before {
			known[d.family] = known[d.family] || len(d.find(&before[i])) > 0
		}
	}
	for i := range ps {
		p := &ps[i]
		r := Release{Policy: p, Left: []manifest.Document{p.Doc}}
		for _, d := range drafts {
			if len(before) == 0 || known[d.family] || len(d.find(p)) == 0 {
				continue
			}
			if r.Why == "" {
				r.Why = d.text()
			}
			if len(r.Left) > 0 {
				left, taken := d.drop(p, r.Left[0])
				r.Left, r.Refused = left, r.Refused || !taken
			}
		}
		if r.Why != "" {
			out = append(out, r)
		}
	}
	return out
}

// withoutInMatchers drops a field of each matcher. A matcher without fields is refused.
func withoutInMatchers(key string) func(p *Policy, doc manifest.Document) ([]manifest.Document, bool) {
	return func(p *Policy, doc manifest.Document) ([]manifest.Document, bool) {
		for _, m := range p.matchers() {
			doc = doc.WithoutField(m.Field + "." + key)
			if left, _ := doc.Lookup(m.Field); len(left.Keys()) == 0 {
				return []manifest.Document{doc}, false
			}
		}
		return []manifest.Document{doc}, true
	}
}

func withoutRules(*Policy, manifest.Document) ([]manifest.Document, bool) { return nil, true }

func refused(_ *Policy, doc manifest.Document) ([]manifest.Document, bool) {
	return []manifest.Document{doc}, false
}
