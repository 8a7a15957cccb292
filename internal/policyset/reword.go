package policyset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

func (w *words) identity(id spiffeid.ID) spiffeid.ID {
	return spiffeid.RequireFromString(w.text(id.String()))
}

func (w *words) workload(of policy.Workload) policy.Workload {
	of.Name, of.Namespace, of.Mesh, of.Zone = w.replace(w.names, of.Name), w.replace(w.names, of.Namespace), w.replace(w.names, of.Mesh), w.replace(w.names, of.Zone)
	of.Labels, of.ServiceAccount = w.labels(of.Labels), w.replace(w.names, of.ServiceAccount)
	return of
}

func (w *words) labels(of map[string]string) map[string]string {
	if of == nil {
		return nil
	}
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		value := of[key]
		if !noNames[key] {
			value = w.text(value)
		}
		out[w.label(key)] = value
	}
	return out
}

// condition replaces the names in the condition of a route.
func (w *words) condition(c policy.Condition) policy.Condition {
	switch c := c.(type) {
	case policy.And:
		out := make(policy.And, len(c))
		for i := range c {
			out[i] = w.condition(c[i])
		}
		return out
	case policy.Is:
		if strings.HasPrefix(c.Match.Value, "/") {
			c.Match.Value = w.text(c.Match.Value)
		} else {
			c.Match.Value = w.method(c.Match.Value)
		}
		return c
	default:
		return c
	}
}

// document writes a value as JSON, which is YAML, with its fields in any order, and reads it
// back.
func (w *words) document(file string, v any) manifest.Document {
	var b bytes.Buffer
	w.write(&b, v)
	docs, err := manifest.Parse(file, b.Bytes())
	if err != nil || len(docs) != 1 {
		panic(fmt.Sprintf("policyset: %v in %s", err, b.Bytes()))
	}
	return docs[0]
}

func (w *words) write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		w.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for i, key := range keys {
			b.WriteByte("{,"[min(i, 1)])
			w.write(b, key)
			b.WriteByte(':')
			w.write(b, v[key])
		}
		if len(keys) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			w.write(b, item)
		}
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("policyset: %v", err))
		}
		b.Write(text)
	}
}
