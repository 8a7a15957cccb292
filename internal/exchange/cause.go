package exchange

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
)

// details are the reasons of an outbound (%RESPONSE_CODE_DETAILS%) that name a cause alone.
var details = map[string]routing.Cause{
	"response_timeout":                     routing.Bounded(routing.Request),
	"stream_idle_timeout":                  routing.Bounded(routing.StreamIdle),
	"upstream_max_stream_duration_reached": routing.Bounded(routing.MaxStream),
	"request_header_timeout":               routing.Bounded(routing.RequestHeaders),
	"max_duration_timeout":                 routing.Sentinel,
	"route_not_found":                      routing.NoRoute,
	"direct_response":                      routing.NoBackend,
	"cluster_not_found":                    routing.NoBackend,
	"no_healthy_upstream":                  routing.NoEndpoint,
}

// cause reads the cause from the log of the outbound, and where that names none from the log of
// the inbound and from counters. An unknown reason is an error.
func (e Evidence) cause() (routing.Cause, error) {
	if e.Protocol.Layer() == policy.L4 {
		return e.tcpCause()
	}
	reason := e.Outbound.Details
	before, isBefore := strings.CutPrefix(reason, outboundlog.BeforeAnswer)
	cause, named := details[reason]
	switch {
	case named:
		return cause, nil
	case reason == "via_upstream":
		return e.answered(), nil
	case isBefore && strings.HasPrefix(before, "connection_timeout"):
		return routing.Bounded(routing.Connection), nil
	case isBefore && e.Inbound != nil:
		return e.brokenByInbound(), nil
	case isBefore && !e.Outbound.ReachedEndpoint():
		return routing.Refused, nil
	case strings.HasPrefix(reason, "upstream_reset_after_response_started{"):
		return routing.Broken, nil
	case strings.HasPrefix(reason, "downstream_"), strings.HasPrefix(reason, "http2.remote_reset"):
		return routing.LeftByCaller, nil
	}
	return 0, fmt.Errorf("exchange: the outbound gives the reason %q, which the lab does not know (flags %q, status %d)", reason, e.Outbound.Flags, e.Outbound.Status)
}

// answered is the cause of an answer that came through the inbound.
func (e Evidence) answered() routing.Cause {
	switch {
	case e.denied():
		return routing.Denied
	case e.Inbound != nil && strings.HasPrefix(e.Inbound.Log.Details, "upstream_"):
		return routing.Broken
	}
	return e.kept()
}

// kept is the cause of the end of a connection that was kept behind a whole answer.
func (e Evidence) kept() routing.Cause {
	if e.Counts != nil && e.Request.Keep > 0 {
		for _, bound := range []routing.Bound{routing.Idle, routing.MaxConnection} {
			if e.Counts[bound] > 0 {
				return routing.Bounded(bound)
			}
		}
	}
	return routing.Answered
}

func (e Evidence) denied() bool {
	return e.Inbound != nil && e.Inbound.Log.Enforced.Ran && e.Inbound.Log.Enforced.Verdict.Effect == policy.Deny
}

// brokenByInbound is the cause where the inbound ended the connection or the stream.
func (e Evidence) brokenByInbound() routing.Cause {
	switch {
	case e.denied():
		return routing.Denied
	case !e.Inbound.Log.Request:
		return routing.Refused
	}
	return routing.Broken
}

// tcpCause reads the cause of a connection. Envoy's log has no reason there: a counter tells
// that a bound took effect.
func (e Evidence) tcpCause() (routing.Cause, error) {
	has := func(flag string) bool { return slices.Contains(e.Outbound.Flags, flag) }
	switch {
	case has("UH"):
		return routing.NoEndpoint, nil
	case has("NC"), has("NR"):
		return routing.NoBackend, nil
	case has("DT"):
		return routing.Sentinel, nil
	case has("UF") && e.Counts == nil:
		return 0, errors.New("exchange: no connection came about, and no log says why: only the counters of a request that is alone do")
	case has("UF") && e.Counts[routing.Connection] > 0:
		return routing.Bounded(routing.Connection), nil
	case has("UF"):
		return routing.Refused, nil
	case e.denied():
		return routing.Denied, nil
	case e.Counts != nil && e.Counts[routing.Idle] > 0:
		return routing.Bounded(routing.Idle), nil
	case e.Answer.End == Complete:
		return routing.Answered, nil
	case e.Answer.End == GaveUp:
		return routing.LeftByCaller, nil
	case e.Counts == nil:
		return 0, errors.New("exchange: the connection was ended, and no log says why: only the counters of a request that is alone do")
	}
	return routing.Broken, nil
}
