package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// setting is a label or an annotation by which an object tells a mesh how to treat its workloads,
// such as ports that pass the sidecar.
type setting struct {
	object, text string
	doc          manifest.Document
}

func (s setting) String() string {
	return fmt.Sprintf("%s (%s of %s)", s.doc.Place(""), s.text, s.object)
}

// missing returns the settings of one side that the other side does not have.
func missing(side, other []setting) (out []setting) {
	type key struct{ object, text string }
	known := map[key]bool{}
	for _, s := range other {
		known[key{s.object, s.text}] = true
	}
	for _, s := range side {
		if !known[key{s.object, s.text}] {
			out = append(out, s)
		}
	}
	return out
}

// heads are the places of labels and annotations: of the object, and of the pods that it makes.
var heads = []string{"metadata", "spec.template.metadata", "spec.jobTemplate.spec.template.metadata"}

// domains end the keys that meshes read.
var domains = []string{"linkerd.io", "istio.io", "kuma.io", "cilium.io"}

// harmlessSettings say what a sidecar costs, measures and logs, how statistics name the workload,
// or that a workload has a sidecar.
var harmlessSettings = []string{
	"annotation config.linkerd.io/proxy-cpu-", "annotation config.linkerd.io/proxy-memory-", "annotation config.linkerd.io/proxy-log-",
	"annotation sidecar.istio.io/proxyCPU", "annotation sidecar.istio.io/proxyMemory", "annotation sidecar.istio.io/logLevel", "service.istio.io/",
	"annotation linkerd.io/inject=enabled", "istio-injection=enabled", "sidecar.istio.io/inject=true", "kuma.io/sidecar-injection=enabled",
}

// ChangedSettings says which labels and annotations of meshes one of two sets of documents has and
// the other does not have. What goes with its object is no change, and neither is a new one that is harmless.
func ChangedSettings(old, recent Others) (out []string) {
	olds, recents := old.settings(), recent.settings()
	for _, side := range []struct {
		has, other []setting
		objects    Others
		harmless   []string
	}{{has: recents, other: olds, harmless: harmlessSettings}, {has: olds, other: recents, objects: recent}} {
		for _, s := range missing(side.has, side.other) {
			harmless := slices.ContainsFunc(side.harmless, func(text string) bool { return strings.Contains(s.text, text) })
			gone := side.harmless == nil && !slices.ContainsFunc(side.objects, func(doc manifest.Document) bool { return objectOf(doc) == s.object })
			if !harmless && !gone {
				out = append(out, s.String())
			}
		}
	}
	return out
}

func (o Others) settings() (out []setting) {
	for _, doc := range o {
		for _, head := range heads {
			for _, kind := range []string{"label", "annotation"} {
				values := mapAt(doc, head+"."+kind+"s")
				for _, key := range slices.Sorted(maps.Keys(values)) {
					domain, _, _ := strings.Cut(key, "/")
					if key == "istio-injection" || slices.ContainsFunc(domains, func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }) {
						out = append(out, setting{objectOf(doc), fmt.Sprintf("%s %s=%v", kind, key, values[key]), doc})
					}
				}
			}
		}
	}
	return out
}

// objectOf names an object. Its version does not matter.
func objectOf(doc manifest.Document) string {
	text := func(field string) string {
		var value string
		if at, ok := doc.Lookup(field); !ok || at.Decode(&value) != nil {
			return ""
		}
		return value
	}
	return fmt.Sprintf("%s %s/%s", name(doc), cmp.Or(text("metadata.namespace"), "default"), cmp.Or(text("metadata.name"), text("name")))
}
