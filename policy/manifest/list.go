package manifest

import (
	"slices"
	"strings"
)

// listSchema is a list of objects. The list of kubectl has the kind List, the list of an API
// server has a kind such as PodList, and the list of kumactl has no kind.
type listSchema struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	// Metadata, Total and Next say where the list comes from, and nothing of its objects.
	Metadata Document    `yaml:"metadata"`
	Items    *[]Document `yaml:"items"`
	Total    Document    `yaml:"total"`
	Next     Document    `yaml:"next"`
}

// isList reports whether the document is a list of objects.
func (d Document) isList() bool {
	_, hasItems := d.At("items")
	switch head := d.Type(); {
	case head.Type != "":
		return false
	case head.APIVersion == "v1" && head.Kind == "List":
		return true
	case head.APIVersion != "":
		return hasItems && strings.HasSuffix(head.Kind, "List")
	default:
		return hasItems && !slices.ContainsFunc(d.Keys(), func(key string) bool { return key != "items" && key != "total" && key != "next" })
	}
}

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
	for _, item := range *schema.Items {
		var err error
		if docs, err = appendObjects(docs, item); err != nil {
			return nil, err
		}
	}
	return docs, nil
}
