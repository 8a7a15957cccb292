package legacy

import "github.com/meshproof/meshproof/policy"

// Item gives its action to the clients that have all of its tags. An item without tags
// names every client. The zero value denies every client.
type Item struct {
	Tags   []Tag
	Action Action
}

// condition holds for the clients of the item.
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

// tagsOf returns the tags of the items, each once, in the order in which they first
// appear.
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
