package relation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// workload makes a relation between a workload and the others, or its own labels, tags and routes.
func (m *relation) workload(c *cases.Case) {
	in := &c.Inbounds[m.inbound]
	own := in.Workload
	peer := func() language.Peer {
		w := own
		w.Name, w.ServiceAccount = m.Letters(5), m.Letters(5)
		w.Labels = map[string]string{"app": w.Name}
		return language.Peer{Workload: w, Identity: renaming.IdentityOf(in.Identity.TrustDomain(), w), IP: m.Address()}
	}
	switch m.rank / 8 % 19 {
	case 0:
		c.Options.Peers = slices.DeleteFunc(c.Options.Peers, func(p language.Peer) bool { return p.Workload.Name == own.Name })
	case 1:
		p := peer()
		p.Identity = in.Identity
		c.Options.Peers = append(c.Options.Peers, p)
	case 2:
		p := peer()
		p.Workload.Name, p.Workload.Namespace = own.Name, m.Letters(6)
		p.Identity = renaming.IdentityOf(in.Identity.TrustDomain(), p.Workload)
		c.Options.Peers = append(c.Options.Peers, p)
	case 3:
		if len(c.TrustDomains) > 1 {
			p := peer()
			p.Identity = renaming.IdentityOf(c.TrustDomains[1], p.Workload)
			c.Options.Peers = append(c.Options.Peers, p)
		}
	case 4:
		p := peer()
		p.Workload.Labels = maps.Clone(own.Labels)
		c.Options.Peers = append(c.Options.Peers, p)
	case 5:
		// The account has another name than its workload.
		m.reidentify(c, m.Letters(6))
	case 6:
		if in.Tags != nil || len(in.Routes) > 0 {
			in.Tags = maps.Clone(own.Labels)
		}
	case 7:
		in.Routes = in.Routes[:min(1, len(in.Routes))]
	case 8, 9, 14, 15:
		m.relabel(c, func(labels map[string]string) {
			for _, key := range tree.Keys(labels) {
				if v := labels[key]; v != "" && !strings.Contains(key, "kuma.io/") {
					labels[key] = choice.Pick(m.Chooser, v+"x", v+"-x", v+".x", strings.ToUpper(v), strings.ToUpper(v), v[:len(v)-1], v)
				}
			}
		})
	case 10:
		m.relabel(c, func(labels map[string]string) {
			labels[own.Name[:min(len(own.Name), 60)]], labels["kubernetes.io/metadata.name"] = own.Name[:min(len(own.Name), 60)], own.Namespace
		})
	case 11:
		m.relabel(c, func(labels map[string]string) {
			for _, key := range tree.Keys(labels) {
				if !strings.Contains(key, "/") && labels[key] != "" {
					labels["x-"+key] = labels[key]
					delete(labels, key)
				}
			}
		})
	case 12:
		m.rezone(c, own.Namespace)
	case 13:
		m.rezone(c, choice.Pick(m.Chooser, own.Name, own.Mesh))
	case 16, 17:
		// Pods of a node's network share its address, and pods of other clusters have other trust domains.
		node := m.Address()
		for i := range 3 {
			p := peer()
			p.IP = node
			p.Identity = renaming.IdentityOf(spiffeid.RequireTrustDomainFromString(fmt.Sprintf("%s%d.example", m.Letters(4), i)), p.Workload)
			c.Options.Peers = append(c.Options.Peers, p)
		}
	}
}

// relabel changes the labels of the workload wherever it stands.
func (m *relation) relabel(c *cases.Case, change func(map[string]string)) {
	labels := maps.Clone(c.Inbounds[m.inbound].Workload.Labels)
	if labels == nil {
		return
	}
	change(labels)
	m.eachPlace(c, func(w *policy.Workload) { w.Labels = labels })
}

// eachPlace visits the workload wherever it stands.
func (m *relation) eachPlace(c *cases.Case, visit func(w *policy.Workload)) {
	name := c.Inbounds[m.inbound].Workload.Name
	for i := range c.Inbounds {
		if w := &c.Inbounds[i].Workload; w.Name == name {
			visit(w)
		}
	}
	for i := range c.Options.Peers {
		if w := &c.Options.Peers[i].Workload; w.Name == name {
			visit(w)
		}
	}
}

// rezone moves the workload into a zone of another name.
func (m *relation) rezone(c *cases.Case, zone string) {
	m.eachPlace(c, func(w *policy.Workload) { w.Zone, w.Origin = zone, cmp.Or(w.Origin, "zone") })
}

// reidentify gives the workload a service account of another name.
func (m *relation) reidentify(c *cases.Case, account string) {
	of := c.Inbounds[m.inbound]
	own := of.Workload
	own.Name = account
	id := renaming.IdentityOf(of.Identity.TrustDomain(), own)
	for i := range c.Inbounds {
		if c.Inbounds[i].Workload.Name == of.Workload.Name {
			c.Inbounds[i].Identity = id
		}
	}
	for i := range c.Options.Peers {
		if c.Options.Peers[i].Identity == of.Identity {
			c.Options.Peers[i].Identity = id
		}
	}
}
