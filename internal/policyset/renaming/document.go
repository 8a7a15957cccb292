package renaming

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Document writes a value as JSON, which is YAML, with its fields in any order, and reads it
// back.
func Document(r *rand.Rand, file string, v any) manifest.Document {
	var b bytes.Buffer
	write(r, &b, v)
	docs, err := manifest.Parse(file, b.Bytes())
	if err != nil || len(docs) != 1 {
		panic(fmt.Sprintf("renaming: %v in %s", err, b.Bytes()))
	}
	return docs[0]
}

func write(r *rand.Rand, b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for i, key := range keys {
			b.WriteByte("{,"[min(i, 1)])
			write(r, b, key)
			b.WriteByte(':')
			write(r, b, v[key])
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
			write(r, b, item)
		}
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("renaming: %v", err))
		}
		b.Write(text)
	}
}
