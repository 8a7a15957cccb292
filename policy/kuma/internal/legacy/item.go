package legacy

import "github.com/meshproof/meshproof/policy"

// Item gives its action to the clients that have all of its tags; without tags,
// to everybody. The zero value denies everybody.
type Item struct {
	Tags   []Tag
	Action Action
}

// condition asks for all of the tags.
func (i Item) condition() policy.Condition {
	switch len(i.Tags) {
	case 0:
		return policy.Always
	case 1:
		return i.Tags[0].condition()
	}
	all := make(policy.And, len(i.Tags))
	for k, tag := range i.Tags {
		all[k] = tag.condition()
	}
	return all
}

// tagsOf returns the tags that the items name, each once, in order of their first
// appearance.
func tagsOf(items []Item) []Tag {
	var out []Tag
	seen := make(map[Tag]bool)
	for _, item := range items {
		for _, tag := range item.Tags {
			if !seen[tag] {
				seen[tag] = true
				out = append(out, tag)
			}
		}
	}
	return out
}
