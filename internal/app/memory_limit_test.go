package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

func TestMemoryLimitIsTheContainersUnlessSomebodySaysOtherwise(t *testing.T) {
	l, err := ReadMemoryLimit("512MiB")
	expect.That(t, err == nil && l.Bytes == 512<<20 && l.From == "--memory-limit", "%+v, %v", l, err)
	l, err = ReadMemoryLimit("off")
	expect.That(t, err == nil && l.Bytes == 0, "%+v, %v", l, err)
	if _, err := ReadMemoryLimit("much"); err == nil || !strings.Contains(err.Error(), "--memory-limit") {
		t.Error(err)
	}
}

// The routing table of the cluster would take four times the limit. The process goes on with what fits, says what does
// not, and stays below the limit.
func TestAClusterOfFourTimesTheMemoryLimitEndsNoProcess(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("reads millions of chunks, with SHARDBOARD_LONG=1")
	}
	const limit = 96 << 20
	bin, err := built()
	must.Do(t, err)
	sim, err := simcluster.New(t.Context(), simcluster.Options{Projects: 12, Documents: 300, Still: true, ManyChunks: 4 * limit / 25})
	must.Do(t, err)
	sim.Start(context.WithoutCancel(t.Context()))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- sim.Serve(l) }()
	t.Cleanup(func() { _ = sim.Close(); <-served })

	web := freePort(t)
	cmd := exec.Command(bin, "serve", "--uri", "mongodb://"+l.Addr().String()+"/?directConnection=true", "--listen", web, "--auth", "none",
		"--data-dir", t.TempDir(), "--audit-key", filepath.Join(t.TempDir(), "audit.key"),
		"--memory-limit", fmt.Sprint(limit), "--log-level", "error")
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { kill(cmd) })

	get := func(path string) string {
		res, err := http.Get("http://" + web + path)
		if err != nil {
			return ""
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return string(text)
	}
	refused := func() bool { return strings.Contains(get("/api/v1/collections/"+simcluster.ManyNS), "\"memoryLeft\"") }
	deadline := time.After(4 * time.Minute)
	most := int64(0)
	for !refused() {
		most = max(most, anonymousMemory(t, cmd.Process.Pid))
		select {
		case err := <-ended:
			t.Fatal("it ended: ", err)
		case <-deadline:
			t.Fatalf("nothing is said of the limit: %s %.3000s", get("/readyz"), get("/api/v1/collections/"+simcluster.ManyNS))
		case <-time.After(200 * time.Millisecond):
		}
	}
	for range 100 { // half a minute of further attempts, with people
		for _, path := range []string{"/", "/collections", "/map", "/readyz"} {
			must.That(t, get(path) != "", "%s is not answered", path)
		}
		most = max(most, anonymousMemory(t, cmd.Process.Pid))
		select {
		case err := <-ended:
			t.Fatal("it ended: ", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
	t.Logf("at most %d MiB of %d MiB", most>>20, limit>>20)
	expect.That(t, most <= limit, "%d bytes, limit %d", most, limit)
	expect.Contains(t, get("/api/v1/collections/yorkie-meta.documents"), `"chunks":`, "other collections")
}

// anonymousMemory is the resident memory of a process that is no mapped file, in bytes; 0 where the system does not
// tell.
func anonymousMemory(t *testing.T, pid int) (bytes int64) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if n, _ := fmt.Sscanf(lines.Text(), "RssAnon: %d kB", &bytes); n == 1 {
			return bytes << 10
		}
	}
	return 0
}
