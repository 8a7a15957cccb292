package manifestdiff

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
)

// Result is everything that differs beside the policies.
type Result struct {
	// Changes may matter.
	Changes []Change
	// Passed are the differences that cannot matter, as the tables of this package say.
	Passed []Passed
	// Compared are the differences in what is read: workloads, services and cases. Others compare what they mean.
	Compared []Passed
	// Doubts are the policies of the second side that may not be applied. There are none where neither side came first.
	Doubts []Doubt
	// Installations are the clusters of which each has policies of its own, as the names of folders tell. There are none where
	// neither side came first.
	Installations []delivery.Installation
}

// Passed is an object that differs, and that is let pass.
type Passed struct {
	// Place is "file:line" of the object, of the second side where that has it; "" for a file.
	Place string `json:"place,omitempty"`
	// Object is the kind, the namespace and the name.
	Object string `json:"object"`
	// Effect says what has become of it, as in "has changed".
	Effect string `json:"effect"`
	// Fields are what differs of it. There are none where the object counts as a whole.
	Fields []string `json:"fields,omitempty"`
}

// String returns one line.
func (p Passed) String() string {
	text := p.Object + " " + p.Effect
	if p.Place != "" {
		text = p.Place + " (" + p.Object + ") " + p.Effect
	}
	if len(p.Fields) > 0 {
		text += ": " + strings.Join(p.Fields, ", ")
	}
	return text
}

// Compare returns everything that differs beside the policies. With symmetric, neither side came first.
func Compare(old, recent Side, symmetric bool) Result {
	c := newComparison(old, recent, symmetric)
	out := Result{Changes: c.changes(), Doubts: c.doubts()}
	if !symmetric {
		out.Installations = delivery.Installations(old.folder(), recent.folder(), c.recentObjects)
	}
	out.Passed, out.Compared = c.rest()
	return out
}

// told are the paths of the fields that the changes name, by the keys of the objects. The path "" stands for
// the whole object.
type told map[string][]string

// add notes that changes name an object as a whole, unless it is known which fields they name.
func (t told) add(key string, changes []Change) {
	if len(changes) > 0 && len(t[key]) == 0 {
		t[key] = []string{""}
	}
}

// addFields notes the fields that the changes name. Of an object of one side alone they name all.
func (t told) addFields(key string, found []finding, alone bool) {
	for _, f := range found {
		if alone {
			f.path = ""
		}
		t[key] = append(t[key], f.path)
	}
}

// has reports whether the changes name a field, a field above it, or one below it.
func (t told) has(key, field string) bool {
	return slices.ContainsFunc(t[key], func(of string) bool { return fieldpath.IsWithin(field, of) || fieldpath.IsWithin(of, field) })
}

// rest compares all documents without any table, and leaves out what the changes name. It needs no table so that
// a table cannot hide anything from it.
func (c *comparison) rest() (passed, compared []Passed) {
	clusterobject.EachPair(c.oldObjects, c.recentObjects, func(was, is []clusterobject.Object) {
		if c.isPaired(slices.Concat(is, was)[0]) {
			return
		}
		found := c.differences(was, is, nil)
		if o := slices.Concat(is, was)[0]; len(found) == 0 && len(c.told[o.Key]) == 0 && c.oldObjects.Repeated[o.Key] != c.recentObjects.Repeated[o.Key] {
			found = []Passed{{Place: o.Doc.Place(""), Object: o.String(), Effect: "is there another number of times"}}
		}
		passed = append(passed, found...)
	})
	clusterobject.EachPair(c.oldDataplanes, c.recentDataplanes, func(was, is []clusterobject.Object) {
		all := slices.Concat(is, was)
		if len(was) == 0 || len(is) == 0 {
			compared = append(compared, c.differences(was, is, nil)...)
			return
		}
		read := func(field string) bool { return isReadOfDataplane(rootOf(all[0]), field) }
		passed = append(passed, c.differences(was, is, func(field string) bool { return !read(field) })...)
		compared = append(compared, c.differences(was, is, read)...)
	})
	clusterobject.EachPair(c.oldPolicies, c.recentPolicies, func(was, is []clusterobject.Object) {
		passed = append(passed, c.besidePolicies(was, is)...)
	})
	clusterobject.EachPair(clusterobject.ReadAll(c.old.Uncompared), clusterobject.ReadAll(c.recent.Uncompared), func(was, is []clusterobject.Object) { passed = append(passed, c.differences(was, is, nil)...) })
	clusterobject.EachPair(clusterobject.ReadAll(c.old.Services), clusterobject.ReadAll(c.recent.Services), func(was, is []clusterobject.Object) {
		// What stands beside their rules is compared with the policies.
		compared = append(compared, c.differences(was, is, func(field string) bool { return !isBeside(is[0], field) })...)
	})
	clusterobject.EachPair(casesOf(c.old.Cases), casesOf(c.recent.Cases), func(was, is []clusterobject.Object) { compared = append(compared, c.differences(was, is, nil)...) })
	return slices.Concat(passed, c.customizations, c.moved, RestOf(c.old.Unread, c.recent.Unread)), compared
}

// besidePolicies returns in what the policies of one name differ beside what their dialect reads. A new policy does not
// differ. Several cases may have a policy of one name, and then each has to stand on the other side too.
func (c *comparison) besidePolicies(was, is []clusterobject.Object) (out []Passed) {
	if len(was) == 0 || len(is) == 0 {
		return nil
	}
	olds, recents := map[string]bool{}, map[string]bool{}
	for _, o := range was {
		olds[besideText(o)] = true
	}
	for _, o := range is {
		recents[besideText(o)] = true
	}
	for i, o := range is {
		if !olds[besideText(o)] {
			out = append(out, c.differences(was[min(i, len(was)-1):][:1], []clusterobject.Object{o}, func(field string) bool { return isBeside(o, field) })...)
		}
	}
	for i, o := range was {
		if len(out) == 0 && !recents[besideText(o)] {
			out = append(out, c.differences([]clusterobject.Object{o}, is[min(i, len(is)-1):][:1], func(field string) bool { return isBeside(o, field) })...)
		}
	}
	return out
}

// differences returns in what an object differs, nothing where it does not. The fields are those that a
// function takes; nil takes all.
func (c *comparison) differences(was, is []clusterobject.Object, takes func(field string) bool) []Passed {
	all := slices.Concat(is, was)
	o := all[0]
	if slices.Contains(c.told[o.Key], "") {
		return nil
	}
	out := Passed{Place: o.Doc.Place(""), Object: o.String()}
	switch {
	case len(was) == 0:
		out.Effect = isNew
	case len(is) == 0:
		out.Effect = isGone
	case len(was) == 1 && len(is) == 1:
		out.Effect = isChanged
		for _, field := range differing(was[0].Doc, is[0].Doc) {
			if !c.told.has(o.Key, field) && (takes == nil || takes(field)) {
				out.Fields = append(out.Fields, field)
			}
		}
		if len(out.Fields) == 0 {
			return nil
		}
	case slices.EqualFunc(was, is, func(a, b clusterobject.Object) bool { return a.Doc.Flow() == b.Doc.Flow() }):
		return nil
	default:
		out.Effect = isTwice
	}
	if c.symmetric && (len(was) == 0 || len(is) == 0) {
		out.Effect = isAlone
	}
	return []Passed{out}
}

// RestOf compares files that are not read, by their names and what stands for their content. A file for
// which "" stands cannot be compared, and counts as another one.
func RestOf(old, recent map[string]string) (out []Passed) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(recent))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, had := old[name]
		is, has := recent[name]
		effect := isChanged
		switch {
		case had && has && was == is && was != "":
			continue
		case has && is == "", had && was == "":
			effect = "leads out of the folder, or is no file, and cannot be compared"
		case !had:
			effect = isNew
		case !has:
			effect = isGone
		}
		out = append(out, Passed{Object: "file " + name, Effect: effect})
	}
	return out
}
