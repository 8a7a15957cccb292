package legacy_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
)

func TestLostDeny(t *testing.T) {
	t.Parallel()
	everybody := legacy.Item{Action: legacy.Allow}
	service := func(name string, action legacy.Action) legacy.Item {
		return legacy.Item{Tags: []legacy.Tag{legacy.Service("default", name)}, Action: action}
	}
	zone := legacy.Item{Tags: []legacy.Tag{legacy.Label("kuma.io/zone", "east")}}
	for name, test := range map[string]struct {
		items           []legacy.Item
		denier, allower int
		lost            bool
	}{
		"two services of all":            {[]legacy.Item{everybody, service("a", legacy.Deny), service("b", legacy.Deny)}, 1, 0, true},
		"one service of all":             {[]legacy.Item{everybody, service("a", legacy.Deny)}, 0, 0, false},
		"a service beside one let in":    {[]legacy.Item{everybody, service("a", legacy.Deny), service("b", legacy.Allow)}, 1, 0, true},
		"what everybody may comes last":  {[]legacy.Item{service("a", legacy.Deny), service("b", legacy.Deny), everybody}, 0, 0, false},
		"nobody but two services":        {[]legacy.Item{{}, service("a", legacy.Allow), service("b", legacy.Allow)}, 0, 0, false},
		"a service and a zone of all":    {[]legacy.Item{everybody, service("a", legacy.Deny), zone}, 0, 0, false},
		"a service twice, denied last":   {[]legacy.Item{service("a", legacy.Allow), service("b", legacy.Allow), service("a", legacy.Deny)}, 0, 0, false},
		"a zone of two services":         {[]legacy.Item{service("a", legacy.Allow), service("b", legacy.Allow), zone}, 0, 0, false},
		"a shadow of a deny lets in too": {[]legacy.Item{{Action: legacy.AllowWithShadowDeny}, service("a", legacy.Deny), service("b", legacy.DenyWithShadowAllow)}, 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if denier, allower, lost, err := legacy.LostDeny(test.items); denier != test.denier || allower != test.allower || lost != test.lost || err != nil {
				t.Errorf("got %d over %d, %t, %v", denier, allower, lost, err)
			}
		})
	}
}

// The last item is lost, and the search ends before it: nobody may take that for sound.
func TestLostDenyOfManyItems(t *testing.T) {
	t.Parallel()
	items := []legacy.Item{{Action: legacy.Allow}}
	for i := range 1000 {
		items = append(items, legacy.Item{Tags: []legacy.Tag{legacy.Service("default", fmt.Sprint("s", i))}, Action: legacy.Allow})
	}
	first := len(items)
	for i := range 5 {
		items = append(items, legacy.Item{Tags: []legacy.Tag{legacy.Label(fmt.Sprint("k", i), "v")}})
	}
	items = append(items, legacy.Item{Tags: []legacy.Tag{legacy.Service("default", "web")}})
	if denier, _, lost, err := legacy.LostDeny(items); denier < first || lost || !errors.Is(err, legacy.ErrUnsearched) {
		t.Errorf("got %d, %t, %v", denier, lost, err)
	}
}

// TestLostDenyByGroups holds the search against all groups of a few items: a client that an allow of one group names last, and a
// deny of all items.
func TestLostDenyByGroups(t *testing.T) {
	t.Parallel()
	keys := []string{"a", "b", "c"}
	property.Check(t, func(t *rapid.T) {
		var items []legacy.Item
		var tags []map[string]int
		for range rapid.IntRange(1, 6).Draw(t, "items") {
			item := legacy.Item{Action: rapid.SampledFrom([]legacy.Action{legacy.Allow, legacy.Deny}).Draw(t, "action")}
			own := map[string]int{}
			for _, key := range keys {
				if value := rapid.IntRange(0, 4).Draw(t, key); value > 0 && value < 4 {
					own[key] = value
					item.Tags = append(item.Tags, legacy.Label(key, string(rune('0'+value))))
				}
			}
			items, tags = append(items, item), append(tags, own)
		}
		if _, _, lost, err := legacy.LostDeny(items); lost != isLost(items, tags, keys) || err != nil {
			t.Fatalf("%v: %t, %v", items, lost, err)
		}
	})
}

func isLost(items []legacy.Item, tags []map[string]int, keys []string) bool {
	isGroup := func(set int) bool {
		values := map[string]int{}
		for i := range items {
			for key, value := range tags[i] {
				if set&(1<<i) != 0 && values[key] != 0 && values[key] != value {
					return false
				}
				if set&(1<<i) != 0 {
					values[key] = value
				}
			}
		}
		return true
	}
	var largest []int
	for set := 1; set < 1<<len(items); set++ {
		grows := false
		for i := range items {
			grows = grows || set&(1<<i) == 0 && isGroup(set|1<<i)
		}
		if isGroup(set) && !grows {
			largest = append(largest, set)
		}
	}
	for client := range 64 {
		has := func(i int, asked func(key string) bool) bool {
			for k, key := range keys {
				if want := tags[i][key]; want != 0 && (client>>(2*k)&3 != want || !asked(key)) {
					return false
				}
			}
			return true
		}
		allows := func(asked func(key string) bool) (allowed bool) {
			for i := range items {
				if has(i, asked) {
					allowed = items[i].Action.Allows()
				}
			}
			return allowed
		}
		if allows(func(string) bool { return true }) {
			continue
		}
		for _, set := range largest {
			// A view knows the values of its own items alone.
			if allows(func(key string) bool {
				for i := range items {
					if set&(1<<i) != 0 && tags[i][key] != 0 && tags[i][key] == client>>(2*slices.Index(keys, key))&3 {
						return true
					}
				}
				return false
			}) {
				return true
			}
		}
	}
	return false
}
