package realcluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// plenty is a disk with enough room: these servers write nothing.
func plenty(string) (uint64, error) { return 1 << 50, nil }

func startFake(t *testing.T, b behaviour, change ...func(*Options)) *Cluster {
	t.Helper()
	o := Options{Servers: fakeServers(t, b), TempDir: t.TempDir(), free: plenty}
	for _, f := range change {
		f(&o)
	}
	c, err := Start(t.Context(), o)
	must.Do(t, err)
	t.Cleanup(func() {
		expect.NoError(t, c.Stop(), "Stop")
		if left := processesWith(c.folder.path); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
		if _, err := os.Stat(c.folder.path); !os.IsNotExist(err) {
			t.Errorf("the folder is left: %v", err)
		}
	})
	return c
}

func ping(t *testing.T, uri string, limit time.Duration) error {
	t.Helper()
	client := must.Get(mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(limit).SetTimeout(limit)))
	defer func() { _ = client.Disconnect(context.Background()) }()
	return client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err()
}

func TestClusterStartsAnswersAndIsRemoved(t *testing.T) {
	c := startFake(t, behaviour{})
	expect.NoError(t, ping(t, c.URI(), 10*time.Second), "ping")
	if got := strings.Join(c.Shards(), " "); got != "shard-rs-1 shard-rs-2 shard-rs-3" || c.Release() != "8.0.10" {
		t.Errorf("shards %s, release %s", got, c.Release())
	}
	expect.Equal(t, len(c.Addresses()), 4, "members, want the config server and 3 shards")
}

func TestClusterWithAccessControlHasAKeyFileAndARootUser(t *testing.T) {
	c := startFake(t, behaviour{}, func(o *Options) { o.Access = true })
	expect.NoError(t, ping(t, c.URI(), 10*time.Second), "ping")
	client := must.Get(mongo.Connect(options.Client().ApplyURI("mongodb://" + c.Address() + "/?directConnection=true")))
	defer func() { _ = client.Disconnect(context.Background()) }()
	if _, err := client.ListDatabaseNames(t.Context(), bson.D{}); err == nil {
		t.Error("a client without a user lists databases")
	}
}

func TestMembersAreFrozenThawedKilledAndRestarted(t *testing.T) {
	c := startFake(t, behaviour{EndAfter: 50 * time.Millisecond}, func(o *Options) { o.Members = []int{3}; o.Routers = 2 })
	ctx := t.Context()
	must.Do(t, c.Freeze(ctx, Router))
	eventually(t, "the router is stopped", func() bool { return processState(c.routers[0].process.cmd.Process.Pid) == "T" })
	expect.That(t, ping(t, c.URI(), 500*time.Millisecond) != nil, "a frozen router answers")
	must.Do(t, c.Thaw())
	expect.NoError(t, ping(t, c.URI(), 10*time.Second), "ping")
	before := c.shards[1].members[0]
	address, pid := before.address(), before.process.cmd.Process.Pid
	must.Do(t, c.Kill(ctx, "shard-rs-2"))
	expect.Equal(t, processState(pid), "", "a killed process")
	must.Do(t, c.Revive(ctx))
	if before.address() != address || !before.answers() {
		t.Errorf("it was at %s and is at %s", address, before.address())
	}
	for _, name := range []string{ConfigServer, Router, "mongos-2", "shard-rs-3"} {
		expect.NoError(t, c.Restart(ctx, name), "restart %s", name)
	}
	for _, name := range []string{"shard-rs-1", ConfigServer} {
		expect.NoError(t, c.StepDown(ctx, name), "step down %s", name)
	}
	if err := c.Freeze(ctx, "shard-rs-9"); err == nil || !strings.Contains(err.Error(), "no member shard-rs-9") {
		t.Errorf("freezing a member that is none: %v", err)
	}
}

func TestFrozenMembersAreEndedToo(t *testing.T) {
	c := startFake(t, behaviour{})
	for _, name := range []string{"shard-rs-1", ConfigServer, Router} {
		must.Do(t, c.Freeze(t.Context(), name))
	}
}

func TestReplicaSetIsStartedAlone(t *testing.T) {
	c, err := StartSet(t.Context(), Options{Servers: fakeServers(t, behaviour{}), TempDir: t.TempDir(), free: plenty}, 3)
	must.Do(t, err)
	defer func() { _ = c.Stop() }()
	if uri := c.SetURI(); strings.Count(uri, "127.0.0.1") != 3 || !strings.HasSuffix(uri, "/?replicaSet=store") {
		t.Errorf("the address is %s", uri)
	}
	expect.NoError(t, c.StepDown(t.Context(), "store"), "StepDown")
}

// startOther runs one test of this program in another process, with a variable set.
func startOther(t *testing.T, test, variable, value string) *exec.Cmd {
	t.Helper()
	own := must.Get(os.Executable())
	cmd := exec.Command(own, "-test.run=^"+test+"$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), variable+"="+value)
	return cmd
}

const killedVariable = "SHARDBOARD_TEST_KILLED_IN"

// TestStartsAClusterAndWaits is the body of the process that the test below kills.
func TestStartsAClusterAndWaits(t *testing.T) {
	dir := os.Getenv(killedVariable)
	if dir == "" {
		t.Skip("is started by TestNothingRemainsAfterAKilledTest")
	}
	all, err := Find(t.Context(), filepath.Join(dir, "servers"))
	must.Do(t, err)
	c, err := Start(t.Context(), Options{Servers: all[0], TempDir: dir, free: plenty})
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(dir, "started"), []byte(c.folder.path), 0o600))
	select {}
}

func TestNothingRemainsAfterAKilledTest(t *testing.T) {
	dir := t.TempDir()
	writeFakes(t, filepath.Join(dir, "servers"), behaviour{})
	cmd := startOther(t, "TestStartsAClusterAndWaits", killedVariable, dir)
	must.Do(t, cmd.Start())
	path := ""
	eventually(t, "the other test has a cluster", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "started"))
		path = string(text)
		return err == nil && path != ""
	})
	expect.Equal(t, len(processesWith(path)), 5, "processes run")
	must.Do(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
	if endsWithItsParent {
		eventually(t, "the servers have ended with the test", func() bool { return len(processesWith(path)) == 0 })
	}
	var said []string
	c, err := Start(t.Context(), Options{Servers: fakeServers(t, behaviour{}), TempDir: dir, free: plenty,
		Log: func(s string) { said = append(said, s) }})
	must.Do(t, err)
	defer func() { _ = c.Stop() }()
	if len(said) != 1 || !strings.Contains(said[0], path) || !strings.HasPrefix(said[0], "A cluster of an earlier run was still there: ") {
		t.Errorf("said %q", said)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the earlier folder is still there: %v", err)
	}
}

// A test that was killed on a system without a death signal leaves its servers running.
func TestProcessesOfAnEarlierRunAreEnded(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, folderPrefix+"1")
	must.Do(t, os.MkdirAll(left, 0o700))
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(left, old, old))
	sleeper := exec.Command("sh", "-c", "sleep 300; exit 0", filepath.Join(left, "data"))
	sleeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.Do(t, sleeper.Start())
	defer func() { _ = syscall.Kill(-sleeper.Process.Pid, syscall.SIGKILL) }()
	ended := make(chan struct{})
	go func() { _ = sleeper.Wait(); close(ended) }()
	living, err := makeFolder(dir, func(string) {})
	must.Do(t, err)
	defer func() { _ = living.remove() }()
	<-ended
	var said []string
	removeEarlier(dir, func(s string) { said = append(said, s) })
	if entries, _ := os.ReadDir(dir); len(entries) != 1 || len(said) != 0 {
		t.Errorf("%v remain, said %q: want the folder that is in use, and nothing", entries, said)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		must.That(t, !time.Now().After(end), "not within a minute: %s", what)
	}
}

func TestParametersAreThoseOfTheRelease(t *testing.T) {
	for release, want := range map[string][]string{
		"4.4.29": {"diagnosticDataCollectionEnabled=false"},
		"5.0.7": {"diagnosticDataCollectionEnabled=false", "reshardingMinimumOperationDurationMillis=2000",
			"shutdownTimeoutMillisForSignaledShutdown=100"},
		"9.0.0-rc0": {"diagnosticDataCollectionEnabled=false", "reshardingDelayBeforeRemainingOperationTimeQueryMillis=0",
			"reshardingMinimumOperationDurationMillis=2000", "shutdownTimeoutMillisForSignaledShutdown=100"},
	} {
		got, err := Servers{Release: release}.parameterFlags(usual, nil)
		must.Do(t, err)
		got = slices.DeleteFunc(got, func(s string) bool { return s == "--setParameter" })
		expect.That(t, slices.Equal(got, want), "%s gets %v, want %v", release, got, want)
	}
	for name, want := range map[string]string{"autoMergerIntervalSecs": "does not know the parameter", "noSuchThing": "is not in the list"} {
		_, err := Servers{Release: "5.0.7"}.parameterFlags(nil, map[string]string{name: "1"})
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", name, err)
	}
}
