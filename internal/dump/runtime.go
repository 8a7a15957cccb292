package dump

import (
	"maps"
	"slices"
	"strconv"
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
// whose values a dump does not have. An Envoy with an empty list of layers has one without a name, which its admin interface
// writes, and one without the list has none: the answer to /runtime shows it.
func (r *Resources) addRuntime(bootstrap object) {
	runtime := r.part(bootstrap, "layered_runtime", "envoy.config.bootstrap.v3.LayeredRuntime")
	switch {
	case get(runtime, "layers") == nil:
		r.hiddenLayers = append(r.hiddenLayers, "")
	case len(getList(runtime, "layers")) == 0:
		r.hiddenLayers = append(r.hiddenLayers, "admin")
	}
	r.layers = nil
	r.each(runtime, "layers", "envoy.config.bootstrap.v3.RuntimeLayer", func(layer object) {
		r.layers = append(r.layers, layer)
		if get(layer, "static_layer") == nil || get(layer, "rtds_layer") != nil || get(layer, "disk_layer") != nil || get(layer, "admin_layer") != nil {
			r.hiddenLayers = append(r.hiddenLayers, getString(layer, "name"))
		}
		r.tellRuntime(runtimeValues(r.part(layer, "static_layer", "google.protobuf.Struct"), ""))
	})
}

func (r *Resources) tellRuntime(values object) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !isHarmlessRuntime(key) {
			r.tellBeside(bootstrapConfig, "the runtime key %q may change how Envoy judges", key)
		}
	}
}

// addRuntimeAnswer takes what the admin endpoint /runtime answers: the values of all layers.
func (r *Resources) addRuntimeAnswer(o object) {
	r.checkParts(o, runtimeAnswer)
	r.isRuntimeShown = true
	r.runtimes = append(r.runtimes, o)
	for _, layer := range getList(o, "layers") {
		name, _ := layer.(string)
		r.shownLayers = append(r.shownLayers, name)
	}
	entries, ok := get(o, "entries").(object)
	if !ok {
		r.tellBeside(runtimeAnswer, "%q of the answer is no object", "entries")
	}
	r.tellRuntime(entries)
}

// tellHiddenLayers tells about the layers whose values nothing shows.
func (r *Resources) tellHiddenLayers() {
	for _, layer := range r.hiddenLayers {
		switch {
		case slices.Contains(r.shownLayers, layer), layer == "" && r.isRuntimeShown && len(r.shownLayers) == 0:
		case layer == "":
			r.tellBeside(bootstrapConfig, "it states no layers of the runtime, and the admin interface may have one that changes how Envoy judges: give the sidecar's answer to /runtime beside it")
		default:
			r.tellBeside(bootstrapConfig, "the runtime layer %q may change how Envoy judges, and its values are not in the dump: give the sidecar's answer to /runtime beside it", layer)
		}
	}
}

// tellOtherRuntime tells about an answer to /runtime that is not of the Envoy of the bootstrap: its static layers have other values.
func (r *Resources) tellOtherRuntime() {
	for _, answer := range r.runtimes {
		entries, names := getObject(answer, "entries"), getList(answer, "layers")
		isOther := len(r.layers) > 0 && len(names) != len(r.layers)
		for i, layer := range r.layers {
			isOther = isOther || names[i] != getString(layer, "name") || get(layer, "static_layer") != nil && !hasRuntime(entries, len(names), i, runtimeValues(getObject(layer, "static_layer"), ""))
		}
		if isOther {
			r.tellBeside(runtimeAnswer, "it has other layers or values than the layers of the bootstrap, and is that of another Envoy: take both answers of one sidecar")
		}
	}
}

// hasRuntime reports whether the entries of an answer to /runtime have the values of a static layer, and no others. How Envoy writes
// a number is not compared.
func hasRuntime(entries object, layers, at int, stated object) bool {
	for key, entry := range entries {
		o, _ := entry.(object)
		values := getList(o, "layer_values")
		value, isStated := stated[key]
		if len(values) != layers || values[at] != "" && !isStated {
			return false
		}
		switch value := value.(type) {
		case string:
			if values[at] != value {
				return false
			}
		case bool:
			if values[at] != strconv.FormatBool(value) {
				return false
			}
		}
	}
	for key := range stated {
		if entries[key] == nil {
			return false
		}
	}
	return true
}

// runtimeValues returns the values of a layer; keys in objects are joined by dots.
func runtimeValues(layer object, above string) object {
	out := object{}
	for key, value := range layer {
		if below, ok := value.(object); ok && below["numerator"] == nil {
			maps.Copy(out, runtimeValues(below, above+key+"."))
		} else {
			out[above+key] = value
		}
	}
	return out
}
