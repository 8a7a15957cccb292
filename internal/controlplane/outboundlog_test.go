package controlplane

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/internal/outboundlog"
)

// TestSettleOutbounds begins a call, and ends it behind a later one.
func TestSettleOutbounds(t *testing.T) {
	t.Parallel()
	log := newOutboundLog(func(outboundlog.Entry, error) {})
	server := grpc.NewServer(grpc.InTapHandle(log.begin))
	defer server.Stop()
	log.register(server)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()

	const method = "/" + logsService + "/" + exportMethod
	first, err := conn.NewStream(t.Context(), &grpc.StreamDesc{}, method)
	if err != nil {
		t.Fatal(err)
	}
	// The head of the first call goes out before the second call does.
	if err := conn.Invoke(t.Context(), method, &logsv1.LogsData{}, &emptypb.Empty{}); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := log.settle(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a call under way: %v", err)
	}
	settled := make(chan error, 1)
	go func() { settled <- log.settle(t.Context()) }()
	if err := errors.Join(first.SendMsg(&logsv1.LogsData{}), first.CloseSend()); err != nil {
		t.Fatal(err)
	}
	if err := <-settled; err != nil {
		t.Error(err)
	}
	if err := first.RecvMsg(&emptypb.Empty{}); err != nil {
		t.Error(err)
	}
	if err := log.settle(t.Context()); err != nil || len(log.underway) > 0 {
		t.Errorf("with nothing under way: %v, %d", err, len(log.underway))
	}
}
