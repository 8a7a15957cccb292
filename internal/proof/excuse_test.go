package proof_test

import (
	"regexp"
	"testing"
)

// excuse says why nothing decides by what some paths lead to.
type excuse struct{ pattern, reason string }

// harmless are misreadings that no answer can tell.
var harmless = []excuse{
	{`metadata: (uid|resourceVersion|generation) is dropped|metadata: .* beside (uid|resourceVersion|generation)$`, "an API server adds these fields"},
	{`: status is dropped|\.status\b`, "a status says what became of a policy"},
	{`^AuthorizationPolicy of gateway\S*\.metadata: ((labels|annotations) is dropped|.* beside (labels|annotations)$)`, "this design reads no label and no annotation of a policy"},
	{`^(AuthorizationPolicy of \S*|MeshTrafficPermission)\.metadata: (creationTimestamp is dropped|.* beside creationTimestamp$)`, "the age of such a policy decides nothing"},
	{`(targetRefs|Refs)\[\]<(Pod|(?i:serviceaccount))>: group is dropped`, "the group of the core is the default"},
	{`<DoesNotExist>: values is dropped`, "the list is empty"},
	{`: jwks(Uri)? is dropped`, "the lab has the keys of each issuer"},
	{`: outputClaimToHeaders is dropped`, "it adds a header for the workload"},
	{`icmps\[\]|fromEndpoints is dropped beside icmps`, "no caller speaks ICMP"},
	{`\.client: unauthenticated is dropped|\.meshTLS: unauthenticatedTLS is dropped`, "what is false says nothing, and without what is true the grant is refused"},
	{`parentRefs\[\]<Service>`, "a route of a Service is about the way out"},
	{`^HTTPRoute of policy\.linkerd\.io\.spec\.parentRefs\[\]<Server>: group is dropped`, "the group is the default of Linkerd's own route"},
	{`rules\[\]: filters is dropped|\.filters\[\]`, "a filter changes headers, and no decision"},
	{`path<PathPrefix>: type is dropped|<Exact>: type is dropped`, "the type is the default"},
	{`targetRefs\[\]<Pod>: name is dropped`, "the name is empty"},
	{`^CiliumNetworkPolicy .*(: egress is dropped|\.enableDefaultDeny: egress is)`, "egress decides about no inbound"},
	{`envoyExtAuthzGrpc: statusOnError is dropped`, "an answer knows that a request is refused, and Envoy alone with which status"},
	{`backendRefs: the last alone counts$`, "a backend without weight is refused where it is alone, and two with weights have both answers"},
	{`^Dataplane\.networking\.inbound\[\]: (servicePort|state) is dropped`, "an inbound goes by its own port, and is judged in any state"},
	{`^Dataplane\.networking: address is dropped`, "the lab has addresses of its own"},
	{`envoyExtAuthzGrpc: (service|port) is dropped`, "the lab has one authorizer in the place of each"},
	{`^MeshExternalService\.spec\b`, "the lab has no endpoint of an external service"},
	{`^MeshTimeout\.spec(\.from\[\]: the (first|last) alone counts|: from is dropped beside to)$`, "the times of what a workload gets are no part of a proof"},
	{`backendRefs\[\]<MeshExternalService>: port is dropped`, "it has one port, which Kuma takes whatever a route writes"},
}

// ofNoRequest are lists of which no case needs two values.
var ofNoRequest = []excuse{
	{`^CiliumNetworkPolicy of cilium\.io\.spec\.egress(Deny)?`, "egress decides about no inbound"},
	{`\.status\.`, "a status says what became of a policy"},
	{`\.icmps\b`, "no caller speaks ICMP"},
	{`toPorts\[\]\.rules\.dns$`, "Cilium refuses rules of DNS at the way in"},
	{`\.nodeSelector\.`, "a policy of nodes is about no workload"},
	{`^CiliumNetworkPolicy of cilium\.io\.spec\.labels$`, "the labels of a rule decide nothing"},
	{`\.outputClaimToHeaders$`, "it adds a header for the workload"},
	{`\.filters\b`, "a filter changes headers, and no decision"},
	{`toPorts\[\]\.serverNames$`, "meshproof refuses them"},
	{`^MeshExternalService\.spec\.endpoints$`, "the lab has no endpoint of an external service"},
	{`^MeshService\.spec\.identities$`, "a warning names identities that no workload has"},
	{`^MeshTCPRoute\.spec\.to\[\]\.rules$`, "Kuma refuses more than one"},
	{`^AuthorizationPolicy of gateway\S*\.targetRefs$`, "the design allows one"},
	{`^MeshTimeout\.spec\.from$`, "the times of what a workload gets are no part of a proof"},
	{`^GRPCRoute of \S*\.queryParams$`, "a call has no query"},
}

// reportUnexcused reports what has no excuse, and excuses that nothing needs.
func reportUnexcused(t *testing.T, missed []string, complaint string, excuses []excuse) {
	t.Helper()
	used := make([]bool, len(excuses))
next:
	for _, what := range missed {
		for i, e := range excuses {
			if regexp.MustCompile(e.pattern).MatchString(what) {
				used[i] = true
				continue next
			}
		}
		t.Errorf("%s: %s", what, complaint)
	}
	for i, e := range excuses {
		if !used[i] {
			t.Errorf("nothing needs the excuse %q", e.pattern)
		}
	}
}
