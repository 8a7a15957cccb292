// Package webserver serves pages until it is told to stop.
//
// It guarantees that a slow client cannot hold it forever, that answers under way are
// finished when it stops, and that nothing is left then. On loopback it answers loopback
// names only, so that a page of another site cannot read it through a DNS name of its own
// (DNS rebinding). It authenticates no caller.
package webserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// grace is how long answers under way may take once the context has ended.
const grace = 5 * time.Second

// loopbackNames refuses a request for a host that is not this machine, with status 421.
func loopbackNames(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if ip := net.ParseIP(host); !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this server answers localhost only", http.StatusMisdirectedRequest)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// Serve serves until ctx ends, and closes the listener. Its error says that it could not
// serve, or could not stop.
func Serve(ctx context.Context, handler http.Handler, listener net.Listener) error {
	if at, ok := listener.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		handler = loopbackNames(handler)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	finishing, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(finishing)
	if err != nil {
		// A client that has not read its answer by now loses it.
		err = server.Close()
	}
	<-served
	if err != nil {
		return fmt.Errorf("stop serving on %s: %w", listener.Addr(), err)
	}
	return nil
}
