package lowering

import (
	"fmt"
	"reflect"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// conf is the conf of a single-item policy. The tags of its fields declare how the
// confs of several policies become one, see [merge].
type conf struct {
	Deny                []permission.Matcher `policyMerge:"concat"`
	AllowWithShadowDeny []permission.Matcher `policyMerge:"concat"`
	Allow               []permission.Matcher `policyMerge:"concat"`
}

func confOf(lists *[3][]permission.Matcher) conf {
	return conf{Deny: lists[permission.Deny], AllowWithShadowDeny: lists[permission.AllowWithShadowDeny], Allow: lists[permission.Allow]}
}

func (c conf) lists() *[3][]permission.Matcher {
	return &[...][]permission.Matcher{permission.Deny: c.Deny, permission.AllowWithShadowDeny: c.AllowWithShadowDeny, permission.Allow: c.Allow}
}

// The strategies that a field of a conf may declare with the tag policyMerge.
const (
	// mergeOverride, the strategy of a field without the tag, takes the last value
	// that is set.
	mergeOverride = ""
	// mergeConcat appends the values, which are slices.
	mergeConcat = "concat"
)

// merge merges confs, the weakest first, by the strategy that each field of the
// struct T declares. All fields have to be exported.
func merge[T any](confs []T) T {
	var out T
	into, from := reflect.ValueOf(&out).Elem(), reflect.ValueOf(confs)
	for i := range into.NumField() {
		field := into.Type().Field(i)
		switch strategy := field.Tag.Get("policyMerge"); strategy {
		case mergeOverride:
			override(into.Field(i), from, i)
		case mergeConcat:
			concat(into.Field(i), from, i)
		default:
			panic(fmt.Sprintf("kuma: field %s of %T declares the merge strategy %q, which is unknown: use concat, or no tag", field.Name, out, strategy))
		}
	}
	return out
}

func override(into, confs reflect.Value, field int) {
	for i := confs.Len() - 1; i >= 0; i-- {
		if value := confs.Index(i).Field(field); !value.IsZero() {
			into.Set(value)
			return
		}
	}
}

// concat leaves the field nil where no conf sets it. It shares no memory with a conf.
func concat(into, confs reflect.Value, field int) {
	set, size := false, 0
	for i := range confs.Len() {
		value := confs.Index(i).Field(field)
		set = set || !value.IsNil()
		size += value.Len()
	}
	if !set {
		return
	}
	all := reflect.MakeSlice(into.Type(), 0, size)
	for i := range confs.Len() {
		all = reflect.AppendSlice(all, confs.Index(i).Field(field))
	}
	into.Set(all)
}

// MergeLists merges the confs of all rules in order of concatenation.
func MergeLists(ps []permission.Policy) *[3][]permission.Matcher {
	confs := make([]conf, 0, len(ps))
	for i := range ps {
		for j := range ps[i].Rules {
			confs = append(confs, confOf(&ps[i].Rules[j].Lists))
		}
	}
	return merge(confs).lists()
}
