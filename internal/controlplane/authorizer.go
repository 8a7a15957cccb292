package controlplane

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"

	authv3 "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/authorizerfilter"
)

// authorizerServer is the authorizer of the lab, see package authorizer.
type authorizerServer struct {
	authv3.UnimplementedAuthorizationServer
	// asked gets the address of each caller that Envoy asks about.
	asked func(caller netip.AddrPort)
	// joins is true for an Envoy that joins the lines of a header before it compares them.
	joins atomic.Bool
}

// Check implements envoy.service.auth.v3.Authorization.
func (s *authorizerServer) Check(ctx context.Context, q *authv3.CheckRequest) (*authv3.CheckResponse, error) {
	of := q.GetAttributes()
	s.asked(addrPort(of.GetSource().GetAddress()))
	if told, _ := metadata.FromIncomingContext(ctx); len(told.Get(authorizerfilter.Unreachable)) > 0 {
		return nil, status.Error(codes.Unavailable, "this authorizer gives no answer")
	}
	allows := authorizer.AllowsConnection(of.GetTlsSession().GetSni())
	if request := of.GetRequest().GetHttp(); request != nil {
		var lines []string
		for _, h := range request.GetHeaderMap().GetHeaders() {
			if strings.EqualFold(h.GetKey(), authorizer.Header) {
				lines = append(lines, string(h.GetRawValue())+h.GetValue())
			}
		}
		allows = authorizer.AllowsRequest(lines, s.joins.Load())
	}
	code := codes.PermissionDenied
	if allows {
		code = codes.OK
	}
	return &authv3.CheckResponse{Status: status.New(code, "").Proto()}, nil
}
