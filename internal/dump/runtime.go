package dump

import (
	"maps"
	"slices"
	"strings"
)

// harmlessRuntime are runtime keys that change no decision about a request. A key that ends
// in a dot is a prefix. Without http_reject_path_with_fragment Envoy takes the fragment of a path
// away before any filter sees it, and the rest is asked.
var harmlessRuntime = []string{"re2.max_program_size.", "overload.", "upstream.", "health_check.",
	"envoy.restart_features.use_apple_api_for_dns_lookups", "envoy.restart_features.use_eds_cache_for_ads",
	"envoy.deprecated_features:envoy.config.listener.v3.Listener.hidden_envoy_deprecated_use_original_dst",
	"envoy.reloadable_features.http_reject_path_with_fragment", "envoy.reloadable_features.fixed_heap_use_allocated",
	"envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update"}

// keepingRuntime begin the keys by which a cluster takes no request, always or while its endpoints are ill: those to an authorizer pass
// then, where its filter fails open.
var keepingRuntime = []string{"upstream.maintenance_mode.", "upstream.healthy_panic_threshold"}

func isHarmlessRuntime(key string) bool {
	return !slices.ContainsFunc(keepingRuntime, func(begin string) bool { return strings.HasPrefix(key, begin) }) && slices.ContainsFunc(harmlessRuntime, func(known string) bool {
		return key == known || strings.HasSuffix(known, ".") && strings.HasPrefix(key, known)
	})
}

// addRuntime tells which runtime values may change how an Envoy judges, and notes the layers
// whose values a dump does not have. An Envoy without layers has one that its admin interface
// writes.
func (r *Resources) addRuntime(bootstrap object) {
	runtime := r.part(bootstrap, "layered_runtime", "envoy.config.bootstrap.v3.LayeredRuntime")
	if len(getList(runtime, "layers")) == 0 {
		r.hiddenLayers = append(r.hiddenLayers, "admin")
	}
	r.each(runtime, "layers", "envoy.config.bootstrap.v3.RuntimeLayer", func(layer object) {
		if get(layer, "static_layer") == nil || get(layer, "rtds_layer") != nil || get(layer, "disk_layer") != nil || get(layer, "admin_layer") != nil {
			r.hiddenLayers = append(r.hiddenLayers, getString(layer, "name"))
		}
		r.tellRuntime(runtimeKeys(r.part(layer, "static_layer", "google.protobuf.Struct"), ""))
	})
}

func (r *Resources) tellRuntime(keys []string) {
	for _, key := range keys {
		if !isHarmlessRuntime(key) {
			r.tellBeside(bootstrapConfig, "the runtime key %q may change how Envoy judges", key)
		}
	}
}

// addRuntimeAnswer takes what the admin endpoint /runtime answers: the values of all layers.
func (r *Resources) addRuntimeAnswer(o object) {
	r.checkParts(o, runtimeAnswer)
	for _, layer := range getList(o, "layers") {
		name, _ := layer.(string)
		r.shownLayers = append(r.shownLayers, name)
	}
	entries, ok := get(o, "entries").(object)
	if !ok {
		r.tellBeside(runtimeAnswer, "%q of the answer is no object", "entries")
	}
	r.tellRuntime(slices.Sorted(maps.Keys(entries)))
}

// tellHiddenLayers tells about the layers whose values nothing shows.
func (r *Resources) tellHiddenLayers() {
	for _, layer := range r.hiddenLayers {
		if !slices.Contains(r.shownLayers, layer) {
			r.tellBeside(bootstrapConfig, "the runtime layer %q may change how Envoy judges, and its values are not in the dump: give the sidecar's answer to /runtime beside it", layer)
		}
	}
}

// runtimeKeys returns the keys of a layer; keys in objects are joined by dots.
func runtimeKeys(layer object, above string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(layer)) {
		if below, ok := layer[key].(object); ok && below["numerator"] == nil {
			out = append(out, runtimeKeys(below, above+key+".")...)
		} else {
			out = append(out, above+key)
		}
	}
	return out
}
