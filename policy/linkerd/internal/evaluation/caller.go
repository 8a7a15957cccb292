package evaluation

import (
	"net/netip"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
)

// caller is who asks. Envoy takes DNS names of a certificate for names of a principal too.
type caller struct {
	opts    authorization.Options
	request policy.Request
}

// hasName reports whether one of the caller's names is taken.
func (c caller) hasName(takes func(name string) bool) bool {
	for _, names := range [][]string{c.request.URIs, c.request.DNS} {
		for _, name := range names {
			if takes(name) {
				return true
			}
		}
	}
	return false
}

func (c caller) is(name string) bool { return c.hasName(func(own string) bool { return own == name }) }

func (c caller) isAccount(namespace, name string) bool {
	return c.is("spiffe://" + c.opts.TrustDomain.Name() + "/ns/" + namespace + "/sa/" + name)
}

// hasAccount reports whether the caller is an account of the mesh.
func (c caller) hasAccount() bool {
	return c.hasName(func(own string) bool { return strings.HasPrefix(own, "spiffe://"+c.opts.TrustDomain.Name()+"/ns/") })
}

// ofNamespace reports whether the caller is an account of a namespace whose name ends in a dot and
// more labels, or any account where there are none.
func (c caller) ofNamespace(namespace, end string) bool {
	return c.hasName(func(own string) bool {
		name, ok := strings.CutPrefix(own, "spiffe://"+c.opts.TrustDomain.Name()+"/ns/"+namespace+"/sa/")
		return ok && (end == "" || strings.HasSuffix(name, "."+end))
	})
}

// identity reads a name label by label, from its end.
func (c caller) identity(written string) bool {
	if strings.HasPrefix(written, "spiffe://") {
		return c.is(written)
	}
	mesh := strings.Split("serviceaccount.identity."+c.opts.ControlPlaneNamespace+"."+c.opts.IdentityDomain, ".")
	labels := strings.Split(written, ".")
	for len(mesh) > 0 && len(labels) > 0 && labels[len(labels)-1] == mesh[len(mesh)-1] {
		mesh, labels = mesh[:len(mesh)-1], labels[:len(labels)-1]
	}
	wild := len(labels) > 0 && labels[0] == "*"
	switch {
	case wild && len(labels) == 1:
		return c.hasAccount()
	case len(mesh) > 0 || len(labels) < 2:
		return false
	case wild:
		return c.ofNamespace(labels[len(labels)-1], strings.Join(labels[1:len(labels)-1], "."))
	default:
		return c.isAccount(labels[len(labels)-1], strings.Join(labels[:len(labels)-1], "."))
	}
}

func (c caller) named(m authorization.MeshTLSAuthentication) bool {
	for _, text := range m.Spec.Identities {
		if c.identity(text) {
			return true
		}
	}
	for _, ref := range m.Spec.IdentityRefs {
		namespace := m.Metadata.Namespace
		if ref.Namespace != nil {
			namespace = *ref.Namespace
		}
		if strings.EqualFold(ref.Kind, "Namespace") && c.ofNamespace(ref.Name, "") || strings.EqualFold(ref.Kind, "ServiceAccount") && c.isAccount(namespace, ref.Name) {
			return true
		}
	}
	return false
}

// client reports whether a ServerAuthorization lets the caller in.
func (c caller) client(g authorization.Grant) bool {
	client := g.Spec.Client
	if networks := client.Networks; len(networks) > 0 && !c.inNetworks(networks) || len(networks) == 0 && !c.inCluster() {
		return false
	}
	if client.Unauthenticated {
		return true
	}
	if client.MeshTLS.UnauthenticatedTLS {
		return c.hasName(func(own string) bool { return strings.HasPrefix(own, "spiffe://") })
	}
	for _, text := range client.MeshTLS.Identities {
		if c.identity(text) {
			return true
		}
	}
	for _, account := range client.MeshTLS.ServiceAccounts {
		namespace := g.Metadata.Namespace
		if account.Namespace != nil {
			namespace = *account.Namespace
		}
		if c.isAccount(namespace, account.Name) {
			return true
		}
	}
	return false
}

func (c caller) access(says string) bool {
	switch says {
	case "all-unauthenticated":
		return true
	case "all-authenticated":
		return c.hasAccount()
	case "cluster-unauthenticated":
		return c.inCluster()
	case "cluster-authenticated":
		return c.hasAccount() && c.inCluster()
	default:
		return false
	}
}

func (c caller) inCluster() bool {
	for _, text := range c.opts.ClusterNetworks {
		if c.hasAddress(text) {
			return true
		}
	}
	return false
}

func (c caller) inNetworks(networks []authorization.Network) bool {
	for _, network := range networks {
		in := c.hasAddress(network.CIDR)
		for _, except := range network.Except {
			in = in && !c.hasAddress(except)
		}
		if in {
			return true
		}
	}
	return false
}

func (c caller) hasAddress(text string) bool {
	if block, err := netip.ParsePrefix(text); err == nil {
		return block.Contains(c.request.Source)
	}
	one, err := netip.ParseAddr(text)
	return err == nil && one == c.request.Source
}
