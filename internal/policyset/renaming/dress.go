package renaming

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// object is a mapping that is added beside those that were read.
type object map[string]any

// dresser adds to a set what decides nothing, as clusters have it: the fields of an API
// server, labels, annotations, a status, and peers that only call. A compiler that looks at them
// takes a set for one of production, or for one of the lab.
type dresser struct {
	*choice.Chooser
	// ofEight is how often of eight times a field is there.
	ofEight int
}

// dress dresses a case and its policies, which are values as JSON has them. Where byLabels is
// true, the policies mean nothing without the workloads that call. Where alone is true, there are no peers.
func dress(c *choice.Chooser, out *cases.Case, policies []any, byLabels, alone bool) {
	d := dresser{c, choice.Pick(c, 0, 1, 2, 5)}
	for _, p := range policies {
		if p, ok := p.(map[string]any); ok {
			d.policy(p)
		}
	}
	d.workloads(out)
	d.peers(out, alone && !byLabels)
}

func (d dresser) often() bool { return d.Choose(8) < d.ofEight }

func (d dresser) policy(p map[string]any) {
	if metadata, ok := p["metadata"].(map[string]any); ok {
		d.metadata(metadata)
	} else if p["type"] != nil {
		if p["mesh"] == "default" && d.OneIn(3) {
			delete(p, "mesh")
		}
		d.fill(p, d.universal(p["labels"]))
	}
	status := func() any {
		return choice.Pick[any](d.Chooser, nil, object{}, object{"note": d.text(50)}, d.conditions())
	}
	if isOfGateway(p) {
		status = d.ancestors
		d.gateway(p)
	}
	d.fill(p, map[string]func() any{"status": status})
}

// isOfGateway reports whether the policy is an AuthorizationPolicy of Gateway API.
func isOfGateway(p map[string]any) bool {
	return strings.HasPrefix(fmt.Sprint(p["apiVersion"]), "gateway.networking.") && strings.HasSuffix(fmt.Sprint(p["kind"]), "AuthorizationPolicy")
}

// fill sets some of the fields.
func (d dresser) fill(p map[string]any, fields map[string]func() any) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if d.often() {
			p[key] = fields[key]()
		}
	}
}

// metadata dresses the metadata of an object of Kubernetes.
func (d dresser) metadata(m map[string]any) {
	d.fill(m, map[string]func() any{
		"uid":               func() any { return d.uid() },
		"resourceVersion":   func() any { return fmt.Sprint(d.Choose(1 << d.Number(1, 40))) },
		"generation":        func() any { return d.UpTo(1 << 16) },
		"creationTimestamp": func() any { return choice.Pick[any](d.Chooser, nil, d.time(), d.time()) },
		"finalizers":        func() any { return d.texts(2, d.key) },
		"ownerReferences": func() any {
			return []object{{
				"apiVersion": choice.Pick(d.Chooser, "apps/v1", "v1", "example.com/v1beta1"), "kind": choice.Pick(d.Chooser, "Deployment", "Application", "HelmRelease"),
				"name": d.word(20), "uid": d.uid(), "controller": d.OneIn(2),
			}}
		},
		"managedFields": func() any {
			return []object{{
				"manager": choice.Pick(d.Chooser, "kubectl", "helm", "argocd-controller", "kustomize-controller", d.word(12)), "operation": choice.Pick(d.Chooser, "Apply", "Update"),
				"time": d.time(), "fieldsType": "FieldsV1", "fieldsV1": object{"f:spec": object{"f:" + d.word(8): object{}}},
			}}
		},
		"generateName": func() any { return d.word(12) + "-" },
		"selfLink":     func() any { return "/apis/" + d.word(30) },
		"labels":       func() any { return d.labels(m["labels"], 8) },
		"annotations":  func() any { return d.annotations(m["annotations"]) },
	})
	if d.OneIn(12) {
		m["deletionTimestamp"], m["deletionGracePeriodSeconds"] = d.time(), d.UpTo(600)
	}
	if m["namespace"] == "default" && d.OneIn(3) {
		delete(m, "namespace")
	}
}

// universal are fields of a resource of Kuma that Kubernetes does not have.
func (d dresser) universal(labels any) map[string]func() any {
	return map[string]func() any{
		"creationTime": func() any { return d.time() }, "modificationTime": func() any { return d.time() },
		"kri": func() any { return "kri_mtp_" + d.word(20) }, "labels": func() any { return d.labels(labels, 8) },
	}
}

// gateway dresses what only an AuthorizationPolicy has. GEP-3779 names no version, and a pod
// is of the core group in any case.
func (d dresser) gateway(p map[string]any) {
	if group, version, ok := strings.Cut(fmt.Sprint(p["apiVersion"]), "/"); ok && strings.HasPrefix(version, "v1") && d.OneIn(2) {
		p["apiVersion"] = group + "/" + choice.Pick(d.Chooser, "v1", "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v2", "v2alpha1")
	}
	spec, _ := p["spec"].(map[string]any)
	refs, _ := spec["targetRefs"].([]any)
	for _, ref := range refs {
		ref, ok := ref.(map[string]any)
		if _, grouped := ref["group"]; ok && !grouped && ref["kind"] == "Pod" && d.often() {
			ref["group"] = choice.Pick(d.Chooser, "", "core")
		}
		if _, named := ref["name"]; ok && !named && ref["kind"] == "Pod" && d.often() {
			ref["name"] = ""
		}
	}
}

// ancestors is the status of a policy of Gateway API.
func (d dresser) ancestors() any {
	of := d.conditions()
	of["ancestorRef"], of["controllerName"] = object{"kind": "Pod", "name": d.word(20)}, "example.com/"+d.word(10)
	return object{"ancestors": []object{of}}
}

// conditions are what controllers say of a policy. They come late, and may be about an earlier one.
func (d dresser) conditions() object {
	return object{"conditions": []object{{
		"type": choice.Pick(d.Chooser, "Accepted", "Valid", "Reconciled"), "status": choice.Pick(d.Chooser, "True", "True", "False", "Unknown"), "reason": "Accepted", "message": d.text(60),
		"observedGeneration": d.UpTo(1 << 10), "lastTransitionTime": d.time(),
	}}}
}

// labels adds labels by which nothing selects.
func (d dresser) labels(to any, most int) object {
	out := object{}
	known, _ := to.(map[string]any)
	maps.Copy(out, known)
	for range d.UpTo(most) {
		out[d.key()] = d.labelValue()
	}
	return out
}

func (d dresser) labelValue() string {
	switch d.Choose(6) {
	case 0:
		return choice.Pick(d.Chooser, "", "true", "false", "1", "v1.2.3")
	case 1:
		return strings.ToUpper(d.word(3)) + "_" + d.word(4) + "." + d.word(5)
	case 2:
		return d.word(60)
	default:
		return d.word(10)
	}
}

func (d dresser) annotations(to any) object {
	out := object{}
	known, _ := to.(map[string]any)
	maps.Copy(out, known)
	for range d.UpTo(12) {
		out[d.key()] = choice.Pick(d.Chooser, "", d.text(200), d.text(200), d.text(200))
	}
	if d.OneIn(2) {
		out[lastApplied] = `{"kind":"` + d.text(2000) + "\"}\n"
	}
	return out
}

// key is the key of a label or an annotation, one time in two a usual one.
func (d dresser) key() string {
	return choice.Pick(d.Chooser, "kuma.io/env", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart", "argocd.argoproj.io/instance", "pod-template-hash", "kustomize.toolkit.fluxcd.io/name",
		"example.com/"+d.word(20), d.word(6), d.word(6), d.word(12), d.word(30))
}

// workloads adds labels, or takes all away.
func (d dresser) workloads(out *cases.Case) {
	labels := map[string]map[string]string{}
	dressed := func(w policy.Workload) policy.Workload {
		if _, known := labels[w.Name]; !known {
			own := maps.Clone(w.Labels)
			if own == nil {
				own = map[string]string{}
			}
			if d.often() {
				for key, value := range d.labels(nil, 24) {
					own[key] = value.(string)
				}
			}
			if d.OneIn(16) {
				own = nil
			}
			labels[w.Name] = own
		}
		w.Labels = labels[w.Name]
		return w
	}
	for i := range out.Inbounds {
		out.Inbounds[i].Workload = dressed(out.Inbounds[i].Workload)
	}
	for i := range out.Options.Peers {
		out.Options.Peers[i].Workload = dressed(out.Options.Peers[i].Workload)
	}
}

// peers adds workloads that only call, with service accounts of any name, and changes the order.
// Where alone is true, there are none.
func (d dresser) peers(out *cases.Case, alone bool) {
	if len(out.Inbounds) == 0 {
		return
	}
	more := 0
	if d.OneIn(2) {
		more = d.UpTo(150)
	}
	beside, td := out.Inbounds[0], out.Inbounds[0].Identity.TrustDomain()
	for range more {
		w := policy.Workload{
			Name: d.word(16), Namespace: choice.Pick(d.Chooser, beside.Workload.Namespace, d.word(10)), Mesh: beside.Workload.Mesh, Zone: beside.Workload.Zone,
			Labels: map[string]string{"app": d.word(8)},
		}
		taken := slices.ContainsFunc(out.Options.Peers, func(p language.Peer) bool { return p.Workload.Name == w.Name })
		if taken || slices.ContainsFunc(out.Inbounds, func(in cases.Inbound) bool { return in.Workload.Name == w.Name }) {
			continue
		}
		account := w
		if d.OneIn(2) {
			account.Name = d.word(12)
		}
		if id := IdentityOf(td, account); !slices.ContainsFunc(out.Options.Peers, func(p language.Peer) bool { return p.Identity == id }) {
			out.Options.Peers = append(out.Options.Peers, language.Peer{Workload: w, Identity: id, IP: d.Address()})
		}
	}
	out.Options.Peers = choice.Shuffled(d.Chooser, out.Options.Peers)
	if alone {
		out.Options.Peers = nil
	}
}

// word makes up a word of at most so many letters.
func (d dresser) word(most int) string { return d.Letters(d.UpTo(most)) }

func (d dresser) texts(most int, text func() string) []string {
	return choice.Items(d.Chooser, 1, most, text)
}

// text makes up a text as people write it, seldom a long one.
func (d dresser) text(most int) string {
	var b strings.Builder
	for length := d.UpTo(most); b.Len() < length; {
		b.WriteString(choice.Pick(d.Chooser, d.word(8), d.word(8), " ", "für Kasse", "日本", "\n", `{"a":"b"}`, "🙂", "<&>", "\t"))
	}
	return b.String()
}

func (d dresser) uid() string {
	hex := func(n int) string { return fmt.Sprintf("%0*x", n, d.Choose(1<<(4*n))) }
	return hex(8) + "-" + hex(4) + "-4" + hex(3) + "-a" + hex(3) + "-" + hex(4) + hex(8)
}

// time chooses a time in the 14 years from 2016 on.
func (d dresser) time() string {
	return time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(d.Choose(14*365*24*3600)) * time.Second).Format(time.RFC3339)
}
