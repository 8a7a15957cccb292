// Package webserver serves pages until it is told to stop.
//
// It guarantees that a slow client cannot hold it for ever, that answers under way are
// finished when it stops, and that nothing is left then. It authenticates no caller.
package webserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// grace is how long answers under way may take once the context has ended.
const grace = 5 * time.Second

// Serve serves until ctx ends, and closes the listener. Its error says that it could not
// serve, or could not stop.
func Serve(ctx context.Context, handler http.Handler, listener net.Listener) error {
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
