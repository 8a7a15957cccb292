package renaming

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
)

// label adds the labels that a pod has beside those of its controller: those of a chart, of a node, and of the injector of a mesh.
func (l *lister) label(w policy.Workload, of string, kind podKind, more map[string]string) {
	for _, part := range []string{"name", "instance", "component", "part-of", "version"} {
		more["app.kubernetes.io/"+part] = of
	}
	switch l.Choose(4) {
	case 0:
		more["app.kubernetes.io/managed-by"], more["helm.sh/chart"] = "Helm", of+"-1.2.3"
	case 1: // a chart of earlier years
		more["chart"], more["heritage"], more["release"] = of+"-0.1.0", "Helm", of
	case 2:
		more["k8s-app"], more["version"] = of, "v1"
	}
	if l.OneIn(2) { // Kubernetes gives pods those of their node
		more["topology.kubernetes.io/region"], more["topology.kubernetes.io/zone"] = "eu-west-1", "eu-west-1"+choice.Pick(l.Chooser, "a", "b", "c")
	}
	switch l.mesh {
	case feature.IstioAuthz:
		more["security.istio.io/tlsMode"], more["service.istio.io/canonical-name"], more["service.istio.io/canonical-revision"], more["istio.io/rev"] = "istio", of, "latest", "default"
		more["sidecar.istio.io/inject"] = "true"
		if l.OneIn(2) {
			more["topology.istio.io/network"] = "network1"
		}
	case feature.LinkerdAuthz:
		more["linkerd.io/control-plane-ns"], more["linkerd.io/workload-ns"] = "linkerd", w.Namespace
		more["linkerd.io/proxy-"+[...]string{ofReplicaSet: "deployment", ofStatefulSet: "statefulset", ofDaemonSet: "daemonset", ofJob: "job"}[kind]] = of
	case feature.CiliumIngress:
		more["io.cilium/app"] = of
	case feature.KumaMTP:
		for key, value := range map[string]string{
			"kuma.io/sidecar-injection": "enabled", "kuma.io/env": "kubernetes", "kuma.io/proxy-type": "sidecar", "kuma.io/workload": of,
			"kuma.io/mesh": w.Mesh, "kuma.io/zone": w.Zone, "kuma.io/origin": w.Origin, "k8s.kuma.io/namespace": w.Namespace,
		} {
			if value != "" {
				more[key] = value
			}
		}
	}
}

// usualPorts are the names that most ports have, by protocol.
var usualPorts = map[policy.Protocol][]string{
	policy.HTTP: {"http", "web", "metrics", "http-web", "admin"}, policy.HTTP2: {"http2", "http", "api"}, policy.GRPC: {"grpc", "grpc-web"}, policy.TCP: {"tcp", "db", "redis", "tls", "https"},
}

// portNames gives ports that no policy names the names that most ports have. The text is that of policies and options.
func (l *lister) portNames(text string) {
	taken := map[string]bool{}
	for _, in := range l.set.Inbounds {
		taken[in.Workload.Namespace+"/"+in.Workload.Name+"/"+in.Name] = true
	}
	for i, in := range l.set.Inbounds {
		workload := in.Workload.Namespace + "/" + in.Workload.Name + "/"
		names := slices.DeleteFunc(slices.Clone(usualPorts[in.Protocol]), func(name string) bool { return taken[workload+name] || strings.Contains(text, `"`+name+`"`) })
		if in.Name == "" || in.Name == in.Workload.Name || strings.Contains(text, `"`+in.Name+`"`) || len(names) == 0 {
			continue
		}
		name := choice.Pick(l.Chooser, names[0], choice.Pick(l.Chooser, names...))
		l.set.Inbounds[i].Name, taken[workload+name] = name, true
	}
}
