package harness

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/policy"
)

// counters reads the counters of bounds of a sidecar, for a request that is alone there.
func (p *crossing) counters(ctx context.Context) (*exchange.Counts, error) {
	if !p.request.Alone {
		return nil, nil
	}
	names := p.counterNames()
	page, err := p.mesh.harness.envoy.AdminGet(ctx, "/stats?usedonly&type=Counters&filter="+url.QueryEscape(`^(http|tcp|cluster)\.`+regexp.QuoteMeta(p.sidecar.prefix)))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	out := &exchange.Counts{}
	err = parseCounters(string(page), func(name string, value uint64) error {
		if counter, ok := names[name]; ok {
			out[counter] += value
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return out, nil
}

// counterNames are the counters of the bounds of an outbound, and of all clusters of its
// sidecar.
func (p *crossing) counterNames() map[string]routing.Bound {
	outbound := p.sidecar.prefix + p.program.Name
	if p.program.Protocol.Layer() == policy.L4 {
		return p.addClusters(map[string]routing.Bound{"tcp." + outbound + ".idle_timeout": routing.Idle})
	}
	return p.addClusters(map[string]routing.Bound{
		"http." + outbound + ".downstream_rq_idle_timeout":   routing.StreamIdle,
		"http." + outbound + ".downstream_rq_header_timeout": routing.RequestHeaders,
	})
}

func (p *crossing) addClusters(names map[string]routing.Bound) map[string]routing.Bound {
	for _, c := range p.sidecar.Program.Clusters {
		cluster := "cluster." + p.sidecar.prefix + c.Name
		names[cluster+".upstream_rq_timeout"] = routing.Request
		names[cluster+".upstream_cx_connect_timeout"] = routing.Connection
		names[cluster+".upstream_rq_max_duration_reached"] = routing.MaxStream
		names[cluster+".upstream_cx_max_duration_reached"] = routing.MaxConnection
		if c.Protocol.Layer() == policy.L7 {
			names[cluster+".upstream_cx_idle_timeout"] = routing.Idle
		}
	}
	return names
}

// readCounters notes what moved, and then waits for the end of a connection that a short bound
// will end, because its counter would move during a later request.
func (p *crossing) readCounters(ctx context.Context, before *exchange.Counts) error {
	if after, err := p.counters(ctx); err != nil {
		return err
	} else if after != nil {
		for bound := range after {
			after[bound] -= before[bound]
		}
		p.evidence.Counts, p.evidence.Counted = after, time.Now()
	}
	if c := p.sidecar.Program.Cluster(p.evidence.Outbound.Cluster); p.inbound != nil && c != nil && routingconfig.EndsSoon(*c) {
		select {
		case <-p.trace.left:
		case <-ctx.Done():
			return fmt.Errorf("the connection to inbound %s stays open behind its bound: %w", p.inbound.Name, context.Cause(ctx))
		}
	}
	return nil
}
