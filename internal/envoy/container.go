package envoy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/meshproof/meshproof/internal/pin"
)

const (
	bootstrapInside    = "/" + bootstrapName
	hostInside         = "host.docker.internal"
	removalTimeout     = 20 * time.Second
	labelRun           = "io.meshproof.run"     // the run directory
	labelMachine       = "io.meshproof.machine" // where that directory is
	containerStopGrace = terminationGrace
)

// docker runs an image in a container.
type docker struct {
	daemon daemon
	image  string
}

func (docker) runtime() Runtime { return Container }

func (d docker) source() string { return "image " + d.image }

func (docker) variable() string { return "ENVOY_IMAGE" }

func prepareContainer(ctx context.Context, o Options, image, bin string) (*Plan, error) {
	d, err := findDaemon(ctx)
	if err != nil {
		return nil, err
	}
	c, err := dialDocker(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	sweepContainers(ctx, c)
	ref, version, err := ensureImage(ctx, c, o, image, bin)
	if err != nil {
		return nil, err
	}
	around := Surroundings{
		HostName: hostInside, HostIsName: true, BindAddress: anyAddr.String(),
		ListenAddress: anyAddr.String(), Admin: netip.AddrPortFrom(anyAddr, adminPort).String(),
	}
	if d.gateway.IsValid() {
		around.HostName, around.HostIsName, around.BindAddress = d.gateway.String(), false, d.gateway.String()
	}
	return &Plan{version: version, options: o, around: around, dir: runDirPath(), runner: docker{d, ref}}, nil
}

func (d docker) start(ctx context.Context, p *Plan, bootstrap []byte) (*Envoy, error) {
	dir, err := newRunDir(p.dir)
	fail := func(err error) (*Envoy, error) {
		return nil, &pin.Error{Doing: "start " + p.String(), Reason: ErrStart, Cause: err}
	}
	if err != nil {
		return fail(err)
	}
	name := filepath.Base(dir.path)
	dog, err := watchContainer(name, d.daemon.host, dir.path)
	if err != nil {
		return fail(errors.Join(err, dir.remove()))
	}
	c, err := dialDocker(ctx)
	if err != nil {
		err = errors.Join(err, dir.remove())
		dog.dismiss()
		return fail(err)
	}
	// remove is what Close and a failed start have in common.
	remove := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removalTimeout)
		defer cancel()
		_, err := c.ContainerRemove(ctx, name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !isGone(err) {
			c.Close()
			return fmt.Errorf("envoy: remove container %s: %w", name, err) // the watchdog tries again when this process ends
		}
		err = errors.Join(dir.remove(), c.Close())
		dog.dismiss()
		return err
	}
	ports := containerPorts(p.options, d.daemon)
	if _, err := testcontainers.GenericContainer(ctx, d.request(p, dir, name, ports, bootstrap)); err != nil {
		return fail(errors.Join(err, remove()))
	}
	inspected, err := c.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if err == nil {
		err = ports.settle(inspected.Container.NetworkSettings)
	}
	if err != nil {
		return fail(errors.Join(err, remove()))
	}
	e := &Envoy{plan: p, container: inspected.Container.ID, ports: ports, admin: newAdmin("tcp", ports.dial(adminPort)), done: make(chan struct{})}
	follow, cancel := context.WithCancel(context.Background())
	go followContainer(follow, e, c, &tail{next: p.options.Log})
	e.stop = func() error {
		defer cancel()
		ctx, cancelStop := context.WithTimeout(context.Background(), removalTimeout)
		defer cancelStop()
		grace := int(containerStopGrace / time.Second)
		if _, err := c.ContainerStop(ctx, e.container, client.ContainerStopOptions{Timeout: &grace}); err != nil && !isGone(err) {
			cancel()
			<-e.done
			return fmt.Errorf("envoy: stop container %s: %w", name, err)
		}
		<-e.done
		return nil
	}
	e.release = remove
	return e, nil
}

// request describes the container. It waits for nothing, mounts nothing, and publishes only what it must.
func (d docker) request(p *Plan, dir *runDir, name string, ports *dockerPorts, bootstrap []byte) testcontainers.GenericContainerRequest {
	return testcontainers.GenericContainerRequest{
		Started: true,
		Logger:  log.NewNoopLogger(),
		ContainerRequest: testcontainers.ContainerRequest{
			Name:       name,
			Image:      d.image,
			Entrypoint: []string{binaryInImage},
			Cmd:        p.options.arguments(bootstrapInside),
			Labels:     map[string]string{labelRun: dir.path, labelMachine: machine()},
			Files:      []testcontainers.ContainerFile{{Reader: bytes.NewReader(bootstrap), ContainerFilePath: bootstrapInside, FileMode: 0o600}},
			// Never empty: else testcontainers publishes what the image exposes, and on every interface.
			ExposedPorts:   ports.exposed(),
			ConfigModifier: func(c *container.Config) { c.User = "0:0" },
			HostConfigModifier: func(h *container.HostConfig) {
				h.PortBindings = ports.bindings()
				h.CapDrop = []string{"ALL"}
				if p.around.HostIsName {
					h.ExtraHosts = []string{hostInside + ":host-gateway"}
				}
			},
		},
	}
}

// followContainer reads the log and awaits the end of a container.
func followContainer(ctx context.Context, e *Envoy, c *testcontainers.DockerClient, log *tail) {
	wait := c.ContainerWait(ctx, e.container, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	stream, err := c.ContainerLogs(ctx, e.container, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err == nil {
		_, _ = stdcopy.StdCopy(log, log, stream) // until the container ends
		stream.Close()
	}
	select {
	case result := <-wait.Result:
		e.ended(fmt.Errorf("exit status %d", result.StatusCode), log)
	case err := <-wait.Error:
		e.ended(err, log)
	}
}
