package delivery_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/policy/manifest"
)

const (
	policy        = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}}"
	deployment    = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}}"
	kustomization = "{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: [RESOURCES]}"
	flux          = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: f, namespace: flux-system}, spec: {path: PATH, sourceRef: {kind: GitRepository, name: r}}}"
)

// folder is a folder with files of one document each.
func folder(t *testing.T, files map[string]string) delivery.Folder {
	t.Helper()
	out := delivery.Folder{Root: "/repo"}
	for name, text := range files {
		docs, err := manifest.Parse(filepath.Join(out.Root, name), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out.Placed = append(out.Placed, docs...)
		if text == policy {
			out.Policies = append(out.Policies, docs...)
		} else {
			out.Others = append(out.Others, docs...)
		}
	}
	return out
}

// Folders are of several clusters where their names or what is in them say so. One cluster has all other folders.
func TestInstallations(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"one folder":                       {map[string]string{"a/p.yaml": policy, "b/q.yaml": policy}, nil},
		"stages":                           {map[string]string{"dev/p.yaml": policy, "prod/p.yaml": policy}, []string{"dev", "prod"}},
		"one stage":                        {map[string]string{"prod/p.yaml": policy, "a/p.yaml": policy}, nil},
		"folders below clusters":           {map[string]string{"clusters/a/p.yaml": policy, "clusters/b/p.yaml": policy}, []string{"clusters/a", "clusters/b"}},
		"twins":                            {map[string]string{"x/d.yaml": deployment, "y/d.yaml": deployment}, []string{"x", "y"}},
		"a base and an overlay":            {map[string]string{"base/d.yaml": deployment, "y/d.yaml": deployment}, nil},
		"an archive":                       {map[string]string{"archive/p.yaml": policy, "a/p.yaml": policy}, []string{""}},
		"a folder that Flux does not take": {map[string]string{"f.yaml": strings.Replace(flux, "PATH", "./a", 1), "a/p.yaml": policy, "b/p.yaml": policy}, []string{""}},
	} {
		var got []string
		of := folder(t, tt.files)
		for _, one := range delivery.Installations(of, of, clusterobject.ReadAll(of.Others)) {
			got = append(got, one.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// An installation has no policies of the folders beside it.
func TestPoliciesOfAnInstallation(t *testing.T) {
	t.Parallel()
	of := folder(t, map[string]string{"dev/p.yaml": policy, "prod/p.yaml": policy, "p.yaml": policy})
	for _, one := range delivery.Installations(of, of, clusterobject.ReadAll(of.Others)) {
		for _, kept := range [][]manifest.Document{one.OfOld(of.Policies), one.OfRecent(of.Policies)} {
			if len(kept) != 2 {
				t.Errorf("%s has %d policies, want its own and the one that is for all", one, len(kept))
			}
		}
	}
}

// A file is applied unless the nearest kustomization does not name it. Flux takes a folder without a kustomization as it is.
func TestApplies(t *testing.T) {
	t.Parallel()
	named := strings.Replace(kustomization, "RESOURCES", "p.yaml", 1)
	for name, tt := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"no kustomization":                     {map[string]string{"a/p.yaml": policy}, true},
		"one that names it":                    {map[string]string{"a/p.yaml": policy, "a/kustomization.yaml": named}, true},
		"one that names another":               {map[string]string{"a/p.yaml": policy, "a/q.yaml": policy, "a/kustomization.yaml": strings.Replace(named, "p.yaml", "q.yaml", 1)}, false},
		"one above that names another":         {map[string]string{"a/p.yaml": policy, "kustomization.yaml": named}, false},
		"one above, and Flux takes the folder": {map[string]string{"a/p.yaml": policy, "kustomization.yaml": named, "f/f.yaml": strings.Replace(flux, "PATH", "./a", 1), "f/kustomization.yaml": strings.Replace(named, "p.yaml", "f.yaml", 1)}, true},
		"one above, and Flux takes another":    {map[string]string{"a/p.yaml": policy, "kustomization.yaml": named, "f/f.yaml": strings.Replace(flux, "PATH", "./b", 1), "f/kustomization.yaml": strings.Replace(named, "p.yaml", "f.yaml", 1)}, false},
	} {
		if got := delivery.ReadFlux(folder(t, tt.files)).Applies("/repo/a/p.yaml"); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}

// An object without a namespace is in that of a control plane where a tool that takes its file says so.
func TestInPlanes(t *testing.T) {
	t.Parallel()
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}}"
	inPlane := strings.Replace(flux, "path: PATH", "path: ./a, targetNamespace: kube-system", 1)
	valuesOf := "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: c, namespace: argocd}, spec: {destination: {namespace: kube-system}, sources: [{repoURL: r, chart: c}, {repoURL: r, ref: v}]}}"
	const (
		set     = "{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: s, namespace: argocd}, spec: {generators: [{git: {}}], template: {spec: {destination: {namespace: NAMESPACE}, source: {repoURL: r, path: 'a/{{path.basename}}'}}}}}"
		release = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: h, namespace: NAMESPACE}, spec: {chart: {spec: {chart: ./a}}}}"
	)
	placed := strings.Replace(kustomization, "resources: [RESOURCES]", "namespace: kyverno, resources: [../a/r.yaml]", 1)
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no tool":                      {map[string]string{"a/r.yaml": role}, "default"},
		"a folder of Flux":             {map[string]string{"a/r.yaml": role, "f.yaml": inPlane}, "kube-system"},
		"a folder beside it":           {map[string]string{"a/p.yaml": policy, "b/r.yaml": role, "f.yaml": inPlane}, "default"},
		"a part of a repository":       {map[string]string{"b/r.yaml": role, "f.yaml": inPlane}, "kube-system"},
		"a file that a list names":     {map[string]string{"a/r.yaml": role, "k/kustomization.yaml": placed}, "kyverno"},
		"a file of a list of the list": {map[string]string{"a/r.yaml": role, "k/kustomization.yaml": strings.Replace(placed, "../a/r.yaml", "../m", 1), "m/kustomization.yaml": strings.Replace(kustomization, "RESOURCES", "../n", 1), "n/kustomization.yaml": strings.Replace(kustomization, "RESOURCES", "../a/r.yaml", 1)}, "kyverno"},
		"a file that no list names":    {map[string]string{"b/r.yaml": role, "k/kustomization.yaml": placed}, "default"},
		"a file beside the list":       {map[string]string{"k/r.yaml": role, "k/kustomization.yaml": placed}, "kyverno"},
		"values of a chart":            {map[string]string{"a/r.yaml": role, "f.yaml": valuesOf}, "default"},
		"a chart beside a folder":      {map[string]string{"a/r.yaml": role, "f.yaml": strings.Replace(valuesOf, "ref: v", "ref: v, path: a", 1)}, "kube-system"},
		"a set of Applications":        {map[string]string{"a/r.yaml": role, "f.yaml": strings.Replace(set, "NAMESPACE", "kyverno", 1)}, "kyverno"},
		"a set by the folder":          {map[string]string{"a/kube-system/r.yaml": role, "f.yaml": strings.Replace(set, "NAMESPACE", "'{{path.basename}}'", 1)}, "kube-system"},
		"a set by another folder":      {map[string]string{"a/shop/r.yaml": role, "f.yaml": strings.Replace(set, "NAMESPACE", "'{{path.basename}}'", 1)}, "default"},
		"a set that leads elsewhere":   {map[string]string{"b/kube-system/r.yaml": role, "a/p.yaml": policy, "f.yaml": strings.Replace(set, "NAMESPACE", "'{{path.basename}}'", 1)}, "default"},
		"a hydrator":                   {map[string]string{"a/r.yaml": role, "f.yaml": "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: c, namespace: argocd}, spec: {destination: {namespace: kube-system}, sourceHydrator: {drySource: {path: a}}}}"}, "kube-system"},
		"a release":                    {map[string]string{"a/templates/r.yaml": role, "f.yaml": strings.Replace(release, "NAMESPACE", "kube-system", 1)}, "kube-system"},
		"a release elsewhere":          {map[string]string{"a/templates/r.yaml": role, "f.yaml": strings.NewReplacer("NAMESPACE", "kube-system", "spec: {chart: {", "spec: {targetNamespace: shop, chart: {").Replace(release)}, "default"},
		"a file of Fleet":              {map[string]string{"a/r.yaml": role, "a/fleet.yaml": "{defaultNamespace: istio-system}"}, "istio-system"},
		"a component":                  {map[string]string{"a/r.yaml": role, "a/kustomization.yaml": "{components: [../c], resources: [r.yaml]}", "c/kustomization.yaml": "{kind: Component, namespace: linkerd}"}, "linkerd"},
		"a part of the path":           {map[string]string{"apps/a/r.yaml": role, "f.yaml": inPlane}, "kube-system"},
		"beside a part of the path":    {map[string]string{"apps/a/p.yaml": policy, "apps/b/r.yaml": role, "f.yaml": inPlane}, "default"},
		"a path above the folder":      {map[string]string{"a/r.yaml": role, "f.yaml": strings.Replace(inPlane, "./a", "./apps/a", 1)}, "kube-system"},
		"beside a path above it":       {map[string]string{"a/p.yaml": policy, "b/r.yaml": role, "f.yaml": strings.Replace(inPlane, "./a", "./apps/a", 1)}, "default"},
		"the root":                     {map[string]string{"a/r.yaml": role, "b/p.yaml": policy, "f.yaml": strings.Replace(inPlane, "./a", "/", 1), "g.yaml": strings.Replace(flux, "PATH", "./b", 1)}, "kube-system"},
		"a variable of Flux":           {map[string]string{"a/r.yaml": role, "b/p.yaml": policy, "f.yaml": strings.Replace(inPlane, "./a", "'./${tenant}'", 1), "g.yaml": strings.Replace(flux, "PATH", "./b", 1)}, "kube-system"},
		"a namespace by a variable":    {map[string]string{"a/kyverno/r.yaml": role, "f.yaml": strings.Replace(inPlane, "kube-system", "'${space}'", 1)}, "kyverno"},
		"a base":                       {map[string]string{"b/r.yaml": role, "a/kustomization.yaml": "{resources: [../b/r.yaml]}", "f.yaml": inPlane}, "kube-system"},
		"a base of another folder":     {map[string]string{"b/r.yaml": role, "c/kustomization.yaml": "{resources: [../b/r.yaml]}", "a/p.yaml": policy, "f.yaml": inPlane}, "default"},
		"an object of another folder":  {map[string]string{"a/r.yaml": strings.Replace(role, "name: r", "name: r, namespace: shop", 1), "f.yaml": inPlane}, "shop"},
	} {
		of := folder(t, tt.files)
		for _, o := range of.InPlanes(clusterobject.ReadAll(of.Others)).All {
			if o.Kind == "Role" && o.Namespace != tt.want {
				t.Errorf("%s: %s, want %s", name, o.Namespace, tt.want)
			}
		}
	}
}

// A kind without namespaces is of none, whatever a tool says.
func TestKindsOfTheCluster(t *testing.T) {
	t.Parallel()
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}"
	of := folder(t, map[string]string{"a/r.yaml": role, "f.yaml": strings.Replace(flux, "path: PATH", "path: ./a, targetNamespace: istio-system", 1)})
	for _, o := range of.InPlanes(clusterobject.ReadAll(of.Others)).All {
		if o.Kind == "ClusterRole" && (o.Category != clusterobject.Harmless || o.String() != "ClusterRole r") {
			t.Errorf("%s has the category %d", o, o.Category)
		}
	}
}
