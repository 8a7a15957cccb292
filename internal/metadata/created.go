package metadata

import (
	"time"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Created returns when an API server says that it made an object, and the zero time where the document does not say it.
// Some meshes take the older one of two policies.
func Created(doc manifest.Document) (time.Time, error) {
	const field = "metadata.creationTimestamp"
	at, ok := doc.Lookup(field)
	if !ok {
		return time.Time{}, nil
	}
	var text *string
	if err := at.Decode(&text); err != nil || text == nil {
		return time.Time{}, err
	}
	created, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		return time.Time{}, doc.Errorf(field, "%q is no time of a Kubernetes object: write one as 2026-01-31T12:00:00Z", *text)
	}
	return created, nil
}
