package dump

import (
	"strings"

	"github.com/meshproof/meshproof/internal/messages"
)

// unwrap returns a filter as a filter chain has it, with its name, and the configuration
// in it. It returns nil for anything else.
func unwrap(tree any) (named, inner object) {
	o, _ := tree.(object)
	if inner = getObject(o, "typed_config"); typeOf(o) != "" || inner == nil {
		return nil, nil
	}
	return o, inner
}

type object = messages.Object

// get returns a field by its name in the proto file. Envoy prints that name, most control
// planes print it in lowerCamelCase. A field that is null in one spelling may stand there in the other.
func get(o object, name string) any {
	if v := o[name]; v != nil {
		return v
	}
	return o[camel(name)]
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

func getObject(o object, name string) object {
	v, _ := get(o, name).(object)
	return v
}

func getList(o object, name string) []any {
	v, _ := get(o, name).([]any)
	return v
}

func getString(o object, name string) string {
	v, _ := get(o, name).(string)
	return v
}
