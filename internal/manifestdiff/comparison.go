package manifestdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
)

// comparison has both sides, with what their documents say of each other.
type comparison struct {
	old, recent Side
	// symmetric is true where neither side came first.
	symmetric bool

	// The objects of both sides: those beside the policies, with their workloads, the policies, and the Dataplanes.
	oldObjects, recentObjects       clusterobject.List
	olds, recents                   workloads
	oldPolicies, recentPolicies     clusterobject.List
	oldDataplanes, recentDataplanes clusterobject.List
	gone                            departed

	// named are the words of everything that may select or name something else, peers those that policies
	// have of callers, and identities those by which a mesh names callers.
	named, peers, identities mention.Words
	callers                  callers
	// targets are the names of Dataplanes and services that policies of Kuma have.
	targets []string
	// givenLabels says of keys of labels whether an unknown object may give them to others, as far as somebody has asked.
	givenLabels map[string]bool
	// programs are what may change labels and annotations, or read them.
	programs programs
	// volumes are the names of volumes of sidecars.
	volumes mention.Words
	// disks are the volumes that may be a folder of a node, and their classes; claims are those of such a folder, by namespace/name.
	disks  mention.Words
	claims map[string]bool
	// tokens are the Secrets with the token of an account, or with the authority of a mesh, by namespace/name.
	tokens map[string]bool
	// variables are the names of variables whose values matter.
	variables map[string]bool
	// allPlaces are the namespaces in which an object without one may be, nil where nobody has asked.
	allPlaces []string
	// allReaches are what kustomizations of the second side take, nil where nobody has asked.
	allReaches *delivery.Reaches
	// allFolders are the folders of the second side, nil where nobody has asked, and isPart is true where no path of a tool leads into them, or where one that leads nowhere may.
	allFolders *delivery.Folders
	isPart     bool
	// changer is the name of what may give any new workload a label or an account, "" for none, nil where it was not looked for.
	changer *string
	// allScripts are the texts of the second side that are not read, by their files, nil where nobody has asked.
	allScripts map[string]string
	// allDeliveries are the objects of the second side with those of tools that they make, nil where nobody has asked.
	allDeliveries []clusterobject.Object

	// isIstio is true where a document is of Istio, byAddress where a policy has an address: a caller may be chosen by it, and
	// byOrigin where callers are chosen by it in another way too.
	isIstio, byAddress, byOrigin bool
	// tokenless is true where no mesh of the policies asks for the token of an account.
	tokenless bool
	// attached is true where a document says something about single routes of gateways.
	attached bool
	// customized is true where Kustomize changes policies before they are applied.
	customized bool
	// tooled is true where a tool such as Argo CD may read any file of the folder.
	tooled bool

	// told is what the changes name, moved what else is in another folder, and customizations are the kustomizations that differ, and pass.
	told                  told
	moved, customizations []Passed
}

// newComparison reads what the documents of both sides say of each other. What one step finds is what the next ones ask for.
func newComparison(old, recent Side, symmetric bool) *comparison {
	c := &comparison{
		old: old, recent: recent, symmetric: symmetric,
		oldObjects: old.folder().InPlanes(clusterobject.ReadAll(old.Others)), recentObjects: recent.folder().InPlanes(clusterobject.ReadAll(recent.Others)),
		oldPolicies: clusterobject.ReadAll(old.Policies), recentPolicies: clusterobject.ReadAll(recent.Policies),
		oldDataplanes: clusterobject.ReadAll(old.Dataplanes), recentDataplanes: clusterobject.ReadAll(recent.Dataplanes),
		named: mention.Words{}, peers: mention.Words{}, identities: mention.Words{}, volumes: mention.Words{}, disks: mention.Words{},
		programs: programs{words: map[string]bool{}, asked: map[string]bool{}}, claims: map[string]bool{}, tokens: map[string]bool{}, variables: map[string]bool{}, givenLabels: map[string]bool{}, told: told{},
	}
	c.oldObjects, c.recentObjects = pairByFile(old, recent, c.oldObjects, c.recentObjects)
	c.olds, c.recents = workloadsOf(c.oldObjects.All), workloadsOf(c.recentObjects.All)
	for _, o := range c.policies() {
		c.addPolicy(o)
	}
	for _, o := range c.objects() {
		c.addObject(o)
	}
	for _, files := range []map[string]string{old.Files, recent.Files} {
		for name := range files {
			c.customized = c.customized || strings.EqualFold(filepath.Base(name), "kustomization")
		}
	}
	c.addDisks()
	c.tokenless = c.isTokenless()
	addDerived(c.named)
	c.gone, c.callers = c.departed(), callersOf(c.peers)
	for _, o := range c.objects() {
		c.addVariables(o)
		c.addAuthority(o)
	}
	return c
}

// addPolicy notes whom and what a policy names.
func (c *comparison) addPolicy(o clusterobject.Object) {
	c.named.AddSelectors(o.WithoutCommonMetadata())
	c.peers.AddPeers(o.Fields)
	c.peers.AddOwn(o)
	c.addTargets(o.Fields)
	fieldvalue.EachText(o.Fields, func(text string) { c.byAddress = c.byAddress || isAddress(text) })
	c.byOrigin = c.byOrigin || choosesByOrigin(o)
	c.isIstio = c.isIstio || o.IsOfIstio()
}

// addObject notes what an object beside the policies names, by its category, and what may be done with others because of it.
func (c *comparison) addObject(o clusterobject.Object) {
	c.customized = c.customized || o.IsOfKustomize()
	c.tooled = c.tooled || o.IsOfTool()
	c.isIstio = c.isIstio || o.IsOfIstio()
	c.addVolumes(o)
	switch o.Category {
	case clusterobject.Unknown:
		c.attached = c.attached || attachesToRoutes(o)
		c.named.AddSelectors(o.WithoutCommonMetadata())
		c.programs.add(o)
		if o.IsIdentity() {
			for _, name := range o.Secrets() {
				addPlaced(c.tokens, o, name)
			}
		}
		if o.Kind == "MeshIdentity" {
			c.identities.AddSelectors(o.Fields)
		}
	case clusterobject.Service:
		c.named.AddValue(fieldvalue.Lookup(o.Fields, "spec", "selector"))
		for _, port := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "ports")) {
			c.named.AddValue(port["targetPort"])
		}
	case clusterobject.Workload, clusterobject.Namespace:
		c.named.AddMeshAnnotations(o)
		c.named.AddSidecars(o)
	}
}

// addDisks notes the folders of nodes, and the claims that may be of one.
func (c *comparison) addDisks() {
	for _, side := range []clusterobject.List{c.oldObjects, c.recentObjects} {
		maps.Copy(c.disks, disksOfNodes(side))
	}
	for _, claim := range slices.Concat(claimsOf(c.oldObjects, c.disks), claimsOf(c.recentObjects, c.disks)) {
		c.claims[claim] = true
	}
}

// addAuthority notes the Secret with the key of an issuer that a mesh may use: the key makes certificates of any name.
func (c *comparison) addAuthority(o clusterobject.Object) {
	if name, _ := fieldvalue.Lookup(o.Fields, "spec", "ca", "secretName").(string); name != "" && o.Group == "cert-manager.io" && (o.Category != clusterobject.Config || c.isUsed(o)) {
		addPlaced(c.tokens, o, name)
	}
}

// addPlaced adds a name in the namespace of an object. Where the object names none, that may be each one: the name stands behind "/" alone then.
func addPlaced(names map[string]bool, o clusterobject.Object, name string) {
	names[o.Namespace+"/"+name] = true
	if !o.Universal && o.Written() == "" {
		names["/"+name] = true
	}
}

// objects returns those of both sides beside the policies.
func (c *comparison) objects() []clusterobject.Object {
	return slices.Concat(c.oldObjects.All, c.recentObjects.All)
}

// policies returns those of both sides, with those for gateways, which nothing else compares.
func (c *comparison) policies() []clusterobject.Object {
	return slices.Concat(c.oldPolicies.All, c.recentPolicies.All, attachedPolicies(c.oldObjects.All), attachedPolicies(c.recentObjects.All))
}
