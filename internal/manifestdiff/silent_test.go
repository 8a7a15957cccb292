package manifestdiff_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
)

// others returns a value with one change each: of a scalar, of a key, or of an item.
func others(value any) (out []any) {
	switch value := value.(type) {
	case map[string]any:
		with := func(key string, other any) {
			of := maps.Clone(value)
			of[key] = other
			out = append(out, of)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			without := maps.Clone(value)
			delete(without, key)
			out = append(out, without)
			with(key, nil)
			for _, other := range others(value[key]) {
				with(key, other)
			}
		}
		with("another", "a")
		with("another.one", nil)
	case []any:
		for i, item := range value {
			out = append(out, slices.Delete(slices.Clone(value), i, i+1), append(slices.Clone(value), item))
			for _, other := range others(item) {
				of := slices.Clone(value)
				of[i] = other
				out = append(out, of)
			}
		}
		turned := slices.Clone(value)
		if slices.Reverse(turned); fmt.Sprint(turned) != fmt.Sprint(value) {
			out = append(out, turned)
		}
	case string:
		out = append(out, value+"x", "", value+" ", []any{value})
	case float64:
		out = append(out, value+1, fmt.Sprint(value))
	case bool:
		out = append(out, !value, fmt.Sprint(value))
	}
	return out
}

// No change of a document beside the policies is silent, whatever it is: it is named, or it is among those that pass.
func TestNoDifferenceIsSilent(t *testing.T) {
	t.Parallel()
	side := sideOf(t, together(policy, deployment, service, serviceAccount,
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: 'n', labels: {a: b}}",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, labels: {app: web, pod-template-hash: a}, ownerReferences: [{kind: Deployment, name: web, controller: true}]}\nspec: {serviceAccountName: web, containers: [{name: web, image: a}]}",
		"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a}\nendpoints: [{addresses: [a, b]}]",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}",
		"apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: c}\nspec: {a: [b, {name: c}, {name: d, e: [{name: f}]}]}",
		"type: Dataplane\nmesh: default\nname: web\nlabels: {app: web}\nnetworking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, tags: {kuma.io/service: web}, health: {ready: true}}, {name: out, port: 8081}], outbound: [{port: 1, address: 127.0.0.1}]}",
		"apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmesh: default\nmetadata: {name: w, namespace: a, labels: {a: b}}\nspec: {networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, servicePort: 8080, state: Ready, tags: {kuma.io/service: web}}]}}"))
	asked := 0
	for i, doc := range slices.Concat(side.Others, side.Dataplanes) {
		var value any
		if err := doc.Decode(&value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		for n, other := range others(value) {
			if testing.Short() && n%3 > 0 {
				continue
			}
			text, err := json.Marshal(other)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := readSide("f.json", string(text))
			if err != nil {
				continue // no such document is read
			}
			recent := side
			if n := len(side.Others); i < n {
				recent.Others = slices.Concat(side.Others[:i], side.Others[i+1:], changed.Others)
			} else {
				recent.Dataplanes = slices.Concat(side.Dataplanes[:i-n], side.Dataplanes[i-n+1:], changed.Dataplanes)
			}
			asked++
			for symmetric, pair := range map[bool][2]manifestdiff.Side{false: {side, recent}, true: {recent, side}} {
				if found := manifestdiff.Compare(pair[0], pair[1], symmetric); len(found.Changes)+len(found.Passed)+len(found.Compared) == 0 {
					t.Errorf("nothing is said of %s", text)
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d changes were asked", asked)
	}
}
