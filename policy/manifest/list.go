package manifest

import (
	"slices"
	"strconv"
)

// listSchema is a list of objects. The list of kubectl has the kind List, the list of an API
// server has a kind such as PodList, and the list of kumactl has no kind.
type listSchema struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	// Metadata, Total and Next say where the list comes from, and whether it is whole.
	Metadata map[string]Document `yaml:"metadata"`
	Items    *[]Document         `yaml:"items"`
	Total    Document            `yaml:"total"`
	Next     Document            `yaml:"next"`
}

// isList reports whether the document is a list of objects.
func (d Document) isList() bool {
	_, hasItems := d.Lookup("items")
	switch head := d.Type(); {
	case head.Type != "":
		return false
	case head.APIVersion == "v1" && head.Kind == listKind:
		return true
	case head.APIVersion != "":
		return hasItems // whatever its kind: kubectl takes each document with this field for a list
	default:
		return hasItems && !slices.ContainsFunc(d.Keys(), func(key string) bool { return key != "items" && key != "total" && key != "next" })
	}
}

// DoubtfulList names the list that the document stands in, where kubectl applies the list only if the cluster has its
// kind, which the document does not show; "" for all other documents. kubectl knows v1 List, lists with the apiVersion of
// the item whose kind is List or that of the item, with or without List behind it, and it takes no list out of a list. A list of
// universal resources is none that kubectl gets. A file that begins with a brace counts as such a list unless it is JSON as a whole.
func (d Document) DoubtfulList() string { return d.list }

// doubtful names a list that may be refused for an item of it, "" where it is not.
func (l listSchema) doubtful(within string, item Document) string {
	switch of := item.Type(); {
	case within != "":
		return within
	case of.Type != "":
		return ""
	case l.APIVersion == "":
		return "a list without a kind"
	case l.APIVersion == "v1" && l.Kind == listKind:
		if item.isList() {
			return "a list within a list"
		}
		return ""
	case l.APIVersion == of.APIVersion && (l.Kind == listKind || l.Kind == of.Kind || l.Kind == of.Kind+listKind):
		return ""
	default:
		return "a list of the kind " + l.APIVersion + " " + l.Kind
	}
}

// listKind is the kind of a list of any objects, and ends the kinds of lists.
const listKind = "List"

// appendObjects appends the document, or the objects of a list, which may have lists in
// turn.
func appendObjects(docs []Document, d Document) ([]Document, error) {
	if !d.isList() {
		return append(docs, d), nil
	}
	var schema listSchema
	if err := d.Decode(&schema); err != nil {
		return nil, err
	}
	if schema.Items == nil {
		return nil, d.Errorf("items", "the list has no items: write [] for an empty list")
	}
	if field := d.pageOf(len(*schema.Items)); field != "" {
		return nil, d.Errorf(field, "the list is one page of several, and the policies of the others are missing: get all pages")
	}
	for i, item := range *schema.Items {
		if of := item.Type(); schema.APIVersion != "" && schema.Kind != listKind && of.APIVersion == "" && of.Kind == "" {
			return nil, d.Errorf("items["+strconv.Itoa(i)+"]", "the item has neither apiVersion nor kind, and kubectl takes them from the list: write both")
		}
		item.list = schema.doubtful(d.list, item)
		var err error
		if docs, err = appendObjects(docs, item); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// pageOf returns the field by which a list of so many items says that an API server has more of them;
// "" where it says nothing. An empty text and zero are no such field.
func (d Document) pageOf(items int) string {
	for _, field := range []string{"next", "metadata.continue", "metadata.remainingItemCount"} {
		if at, ok := d.Lookup(field); ok && at.node.kind != null && at.node.scalar != "" && at.node.scalar != "0" {
			return field
		}
	}
	if at, ok := d.Lookup("total"); ok && at.node.kind != null && at.node.scalar != strconv.Itoa(items) {
		return "total"
	}
	return ""
}
