package mongosh_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// mongoshPath returns the path of mongosh and installs it if needed.
func mongoshPath(t *testing.T) string {
	t.Helper()
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("a long test: set SHARDBOARD_LONG=1")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal("mongosh needs Node.js: scripts/setup-node installs it")
	}
	const path = "node_modules/.bin/mongosh"
	if _, err := os.Stat(path); err == nil {
		return path
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return path
}

// startCluster starts a simulated cluster on loopback and returns its address.
func startCluster(t *testing.T, o simcluster.Options) string {
	t.Helper()
	sim := must.Get(simcluster.New(t.Context(), o))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	ended := make(chan error, 1)
	go func() { ended <- sim.Serve(l) }()
	t.Cleanup(func() {
		_ = sim.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	sim.Start(t.Context())
	return "mongodb://" + l.Addr().String() + "/?directConnection=true"
}

// runMongosh returns the combined output of mongosh, which must succeed.
func runMongosh(t *testing.T, path string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"--quiet", "--norc"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "NO_COLOR=1") // for its history and telemetry settings
	out, err := cmd.CombinedOutput()
	must.That(t, err == nil, "mongosh %v: %v\n%s", args, err, out)
	return string(out)
}
