package envoy

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/meshproof/meshproof/internal/children"
	"github.com/meshproof/meshproof/internal/pin"
)

const (
	volumeInside       = "/meshproof" // holds the bootstrap, because the root is read-only
	bootstrapInside    = volumeInside + "/" + bootstrapName
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
		ListenAddress: anyAddr.String(), Admin: netip.AddrPortFrom(loopback, adminPort).String(),
		AdminGate: netip.AddrPortFrom(anyAddr, gatePort).String(),
	}
	if d.gateway.IsValid() {
		around.HostName, around.HostIsName, around.BindAddress = d.gateway.String(), false, d.gateway.String()
	}
	return &Plan{version: version, options: o, surroundings: around, dir: runDirPath(), runner: docker{d, ref}}, nil
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
	// remove is a part of Close, and of a start that failed.
	remove := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removalTimeout)
		defer cancel()
		_, err := c.ContainerRemove(ctx, name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !errdefs.IsNotFound(err) {
			c.Close()
			return fmt.Errorf("envoy: remove container %s: %w", name, err) // the watchdog tries again when this process ends
		}
		err = errors.Join(dir.remove(), c.Close())
		dog.dismiss()
		return err
	}
	ports := containerPorts(p.options, d.daemon)
	_, err = testcontainers.GenericContainer(ctx, d.request(p, dir, name, ports))
	if err == nil {
		err = copyBootstrap(ctx, c, name, bootstrap)
	}
	if err == nil {
		_, err = c.ContainerStart(ctx, name, client.ContainerStartOptions{})
	}
	if err != nil {
		return fail(errors.Join(err, remove()))
	}
	inspected, err := c.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	// An Envoy that has already ended has no addresses. Its log tells why it ended.
	if state := inspected.Container.State; err == nil && (state == nil || state.Running) {
		err = ports.settle(inspected.Container.NetworkSettings)
	}
	if err != nil {
		return fail(errors.Join(err, remove()))
	}
	e := &Envoy{plan: p, container: inspected.Container.ID, ports: ports, admin: newAdmin(dialTCP(ports.dial(gatePort))), done: make(chan struct{})}
	follow, cancel := context.WithCancel(context.Background())
	go followContainer(follow, e, c, newTail(p.options.Log))
	e.kill = func() {
		ctx, cancel := context.WithTimeout(context.Background(), removalTimeout)
		defer cancel()
		_, _ = c.ContainerKill(ctx, e.container, client.ContainerKillOptions{Signal: "KILL"})
	}
	e.stop = func() error {
		defer cancel()
		ctx, cancelStop := context.WithTimeout(context.Background(), removalTimeout)
		defer cancelStop()
		grace := int(containerStopGrace / time.Second)
		if _, err := c.ContainerStop(ctx, e.container, client.ContainerStopOptions{Timeout: &grace}); err != nil && !errdefs.IsNotFound(err) {
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

// containerUser is no user of the host, as a rule, and lies within the users that a rootless daemon has.
const containerUser = 65532

// The limits of a container are many times what Envoy needs, so that they stop only what has run wild.
const (
	containerMemory = 2 << 30 // bytes
	containerPIDs   = 1024
)

// copyBootstrap puts the bootstrap into the volume of a container that is not started yet. Only the user of the container can
// read it.
func copyBootstrap(ctx context.Context, c *testcontainers.DockerClient, name string, bootstrap []byte) error {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Name: bootstrapName, Mode: 0o400, Uid: containerUser, Gid: containerUser, Size: int64(len(bootstrap))})
	if err == nil {
		_, err = w.Write(bootstrap)
	}
	if err = errors.Join(err, w.Close()); err == nil {
		_, err = c.CopyToContainer(ctx, name, client.CopyToContainerOptions{DestinationPath: volumeInside, Content: &archive})
	}
	if err != nil {
		return fmt.Errorf("copy the bootstrap into the container: %w", err)
	}
	return nil
}

// request describes the container. It waits for nothing, mounts nothing of this machine, and publishes only the ports that are
// needed.
func (d docker) request(p *Plan, dir *runDir, name string, ports *dockerPorts) testcontainers.GenericContainerRequest {
	return testcontainers.GenericContainerRequest{
		Logger: log.NewNoopLogger(),
		ContainerRequest: testcontainers.ContainerRequest{
			Name:       name,
			Image:      d.image,
			Entrypoint: []string{binaryInImage},
			Cmd:        p.options.arguments(bootstrapInside),
			Labels:     map[string]string{labelRun: dir.path, labelMachine: machine()},
			// Never empty: for an empty list testcontainers publishes the ports of the image, on every interface.
			ExposedPorts:   ports.exposed(),
			ConfigModifier: func(c *container.Config) { c.User = fmt.Sprintf("%d:%d", containerUser, containerUser) },
			HostConfigModifier: func(h *container.HostConfig) {
				h.PortBindings = ports.bindings()
				h.CapDrop = []string{"ALL"}
				h.SecurityOpt = []string{"no-new-privileges"}
				h.ReadonlyRootfs = true
				h.Mounts = []mount.Mount{{Type: mount.TypeVolume, Target: volumeInside}}
				h.Memory, h.MemorySwap = containerMemory, containerMemory
				pids := int64(containerPIDs)
				h.PidsLimit = &pids
				if p.surroundings.HostIsName {
					h.ExtraHosts = []string{hostInside + ":host-gateway"}
				}
			},
		},
	}
}

// followContainer reads the log of a container and waits for its end.
func followContainer(ctx context.Context, e *Envoy, c *testcontainers.DockerClient, log *children.Tail) {
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

const (
	adminPort         = 9901 // on the container's own loopback
	gatePort          = 9902 // leads to the admin port, for the lab's certificate only
	firstListenerPort = 10000
)

// dockerPorts are the ports of a container. The gate of the admin port is published. If the network of the container is on this machine,
// listeners are dialed directly, because Docker needs about 15 ms at the start and 50 ms at the end to publish a port.
type dockerPorts struct {
	n       int
	publish bool
	ip      netip.Addr                // of the container, unless all ports are published
	mapped  map[uint16]netip.AddrPort // published ports, by port inside
}

func containerPorts(o Options, d daemon) *dockerPorts {
	n := o.Ports
	if n == 0 {
		n = defaultContainerPorts
	}
	return &dockerPorts{n: n, publish: !d.gateway.IsValid(), mapped: map[uint16]netip.AddrPort{}}
}

// published lists the ports of the container that are published.
func (d *dockerPorts) published() []network.Port {
	list := []network.Port{network.MustParsePort(strconv.Itoa(gatePort) + "/tcp")}
	if d.publish {
		for i := range d.n {
			list = append(list, network.MustParsePort(strconv.Itoa(firstListenerPort+i)+"/tcp"))
		}
	}
	return list
}

func (d *dockerPorts) exposed() []string {
	var list []string
	for _, p := range d.published() {
		list = append(list, p.String())
	}
	return list
}

// bindings publishes on the loopback address only, each port on a port that Docker chooses.
func (d *dockerPorts) bindings() network.PortMap {
	m := network.PortMap{}
	for _, p := range d.published() {
		m[p] = []network.PortBinding{{HostIP: loopback, HostPort: "0"}}
	}
	return m
}

// settle records the addresses that Docker gave to the container at its start.
func (d *dockerPorts) settle(s *container.NetworkSettings) error {
	if s == nil {
		return errors.New("the container has no network")
	}
	if !d.publish {
		if own := s.Networks[bridgeNetwork]; own != nil {
			d.ip = own.IPAddress
		}
		if !d.ip.IsValid() {
			return errors.New("the container has no address on the default bridge")
		}
	}
	for _, p := range d.published() {
		bound := s.Ports[p]
		if len(bound) == 0 {
			return fmt.Errorf("port %s is not published", p)
		}
		port, err := strconv.ParseUint(bound[0].HostPort, 10, 16)
		if err != nil {
			return fmt.Errorf("port %s is published as %q: %w", p, bound[0].HostPort, err)
		}
		d.mapped[p.Num()] = netip.AddrPortFrom(loopback, uint16(port))
	}
	return nil
}

func (d *dockerPorts) dial(port uint16) string {
	if at, ok := d.mapped[port]; ok {
		return at.String()
	}
	return netip.AddrPortFrom(d.ip, port).String()
}

func (d *dockerPorts) len() int { return d.n }

func (d *dockerPorts) slot(i int) Slot {
	if i >= d.n {
		return Slot{}
	}
	port := uint16(firstListenerPort + i)
	return Slot{Listen: netip.AddrPortFrom(anyAddr, port), Dial: d.dial(port)}
}
