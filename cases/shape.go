package cases

import "github.com/meshproof/meshproof/policy/manifest"

// oneOrMore reads a scalar as a list of one. An empty list stays empty, and an absent
// list is nil.
type oneOrMore []string

// UnmarshalManifest implements manifest.Unmarshaler.
func (o *oneOrMore) UnmarshalManifest(d manifest.Document) error {
	if _, isList := items(d); isList {
		return d.Decode((*[]string)(o))
	}
	var one string
	if err := d.Decode(&one); err != nil {
		return err
	}
	*o = oneOrMore{one}
	return nil
}

// headers reads a mapping, which is sorted by name, or a list of mappings with one entry
// each, which may repeat a name.
type headers []Header

// UnmarshalManifest implements manifest.Unmarshaler.
func (h *headers) UnmarshalManifest(d manifest.Document) error {
	lines, isList := items(d)
	if !isList {
		lines = []manifest.Document{d}
	}
	for _, line := range lines {
		var values map[string]string
		if err := line.Decode(&values); err != nil {
			return err
		}
		if isList && len(values) != 1 {
			return line.Errorf("", "an item is one header, as in {x-name: value}")
		}
		for _, name := range sortedKeys(values) {
			*h = append(*h, Header{Name: name, Value: values[name]})
		}
	}
	return nil
}

// items returns the items of a list, and whether the document is one.
func items(d manifest.Document) ([]manifest.Document, bool) {
	var list []manifest.Document
	err := d.Decode(&list)
	return list, err == nil
}
