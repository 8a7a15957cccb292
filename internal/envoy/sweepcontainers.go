package envoy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// machine names the place whose file system a run directory is in, so that containers of another machine, or of a
// container that shares the daemon, are left alone.
func machine() string {
	host, _ := os.Hostname()
	mounts := ""
	if runtime.GOOS == "linux" {
		mounts, _ = os.Readlink("/proc/self/ns/mnt")
	}
	return fmt.Sprintf("%s %d %s", host, os.Getuid(), mounts)
}

// sweepContainers removes the containers whose owner is dead, by the lock of their run directory. Nothing depends on
// its success.
func sweepContainers(ctx context.Context, c *testcontainers.DockerClient) {
	list, err := c.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", labelMachine+"="+machine()),
	})
	if err != nil {
		return
	}
	for _, item := range list.Items {
		dir := item.Labels[labelRun]
		if _, err := os.Lstat(dir); dir == "" || !errors.Is(err, os.ErrNotExist) {
			continue // its owner lives: a dead one's directory was removed by sweepDirs
		}
		_, _ = c.ContainerRemove(ctx, item.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
}
