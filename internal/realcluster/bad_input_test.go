package realcluster

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// Each is one sentence that names the program or folder, and nothing is left behind.
func TestServersThatCannotBeUsedAreNamedWithTheReason(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"nothing there": {func(*testing.T, string) {}, "has no mongod and mongos: it needs both, or one folder with both for each release"},
		"no folder":     {func(t *testing.T, dir string) { remove(t, dir) }, "cannot be read"},
		"no mongos": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			remove(t, filepath.Join(dir, "mongos"))
		}, "has mongod but no mongos: a sharded cluster needs both"},
		"no mongod in a release": {func(t *testing.T, dir string) {
			writeFakes(t, filepath.Join(dir, "8.0", "bin"), behaviour{})
			remove(t, filepath.Join(dir, "8.0", "bin", "mongod"))
		}, "bin has mongos but no mongod: a sharded cluster needs both"},
		"another machine": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			write(t, filepath.Join(dir, "mongod"), "\x7fELF of another processor", 0o700)
		}, "does not run here: it is built for another kind of machine than this one ("},
		"another system": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			write(t, filepath.Join(dir, "mongod"), "#!/no/such/loader\n", 0o700)
		}, "it needs a program loader that this system does not have"},
		"not executable": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			write(t, filepath.Join(dir, "mongos"), "#!/bin/sh\n", 0o600)
		}, "mongos does not run here: it may not be executed (chmod +x)"},
		"a library": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			write(t, filepath.Join(dir, "mongod"), "#!/bin/sh\necho \"$0: error while loading shared libraries: libcrypto.so.1.1: cannot open "+
				"shared object file: No such file or directory\" >&2; exit 127\n", 0o700)
		}, "it needs the library libcrypto.so.1.1, which this system does not have"},
		"an old processor": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			write(t, filepath.Join(dir, "mongod"), "#!/bin/sh\nkill -ILL $$\n", 0o700)
		}, "this processor lacks instructions that it needs (MongoDB 5.0 and later need AVX)"},
		"no version": {func(t *testing.T, dir string) { writeFakes(t, dir, behaviour{Version: "hello"}) },
			`is of an unknown release: it answered --version with "hello"`},
		"too old": {func(t *testing.T, dir string) { writeFakes(t, dir, behaviour{Release: "4.2.25"}) },
			"is of release 4.2.25, which these tests do not know: they start 4.4 to 9"},
		"two releases": {func(t *testing.T, dir string) {
			writeFakes(t, dir, behaviour{})
			write(t, filepath.Join(dir, "mongos"), "#!/bin/sh\necho mongos version v7.0.1\n", 0o700)
		}, "mongos is 7.0.1: both must be of the same release"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			_, err := Find(t.Context(), dir)
			checkSentence(t, err, c.want)
			expect.That(t, err == nil || strings.Contains(err.Error(), dir), "it does not say where: %v", err)
		})
	}
}

func TestServersAreFoundByRelease(t *testing.T) {
	dir := t.TempDir()
	writeFakes(t, filepath.Join(dir, "mongodb-8"), behaviour{Release: "8.0.10"})
	writeFakes(t, filepath.Join(dir, "old", "bin"), behaviour{Release: "5.0.7"})
	write(t, filepath.Join(dir, "README"), "not a release", 0o600)
	all, err := Find(t.Context(), dir)
	if err != nil || len(all) != 2 || all[0].Release != "5.0.7" || all[1].Release != "8.0.10" || all[1].Line() != "8.0" {
		t.Errorf("found %+v, %v", all, err)
	}
	expect.That(t, !all[0].AtLeast(5, 1) && all[0].AtLeast(4, 4) && all[1].AtLeast(8, 0), "releases are compared wrongly")
}

func TestServersThatDoNotStartSayWhyAndLeaveNothing(t *testing.T) {
	for name, c := range map[string]struct {
		behaviour
		change func(*Options)
		want   string
	}{
		"every port is taken": {behaviour{Print: "Address already in use"}, nil, "its port is in use"},
		"a full disk": {behaviour{Print: `{"s":"E","msg":"WiredTiger error","attr":{"message":"write: No space left on device"}}`},
			nil, "the disk is full"},
		"a full disk before the start": {behaviour{}, func(o *Options) { o.free = func(string) (uint64, error) { return 100 << 20, nil } },
			"has 100 MB free and a cluster of 4 servers needs 1600 MB: set TMPDIR to a folder with more room"},
		"another reason": {behaviour{Print: `{"s":"F","msg":"Wrong version","attr":{"found":3}}` + "\n" + `{"s":"I","msg":"Exiting"}`}, nil,
			`Wrong version {"found":3}`},
		"an unknown option": {behaviour{Print: "Error parsing command line: unrecognised option '--nounixsocket'"}, nil,
			"this release does not know an option (unrecognised option '--nounixsocket')"},
		"a parameter of the test": {behaviour{Release: "5.0.7"},
			func(o *Options) { o.Parameters = map[string]string{"autoMergerIntervalSecs": "1"} },
			"MongoDB 5.0.7 does not know the parameter autoMergerIntervalSecs"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Servers: fakeServers(t, c.behaviour), TempDir: t.TempDir(), free: plenty}
			if c.change != nil {
				c.change(&o)
			}
			_, err := Start(t.Context(), o)
			checkSentence(t, err, c.want)
			if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
			if left := processesWith(o.TempDir); len(left) > 0 {
				t.Errorf("the processes %v are left", left)
			}
		})
	}
}

func TestPortThatSomebodyTookIsReplacedByAnother(t *testing.T) {
	startFake(t, behaviour{Print: "Address already in use", Times: 3})
}

func TestUsualParameterThatAServerDoesNotKnowIsLeftOut(t *testing.T) {
	startFake(t, behaviour{Release: "8.0.10-without-reshardingMinimumOperationDurationMillis"})
}

func TestRestartedServerWaitsForItsPort(t *testing.T) {
	c := startFake(t, behaviour{})
	m := c.shards[0].members[0]
	m.kill()
	l, err := net.Listen("tcp", m.address())
	if err != nil {
		t.Skip("somebody else took the port: ", err)
	}
	done := make(chan error)
	go func() { done <- c.Restart(t.Context(), "shard-rs-1") }()
	eventually(t, "it was refused", func() bool { return m.complainedOf(isPortTaken) })
	_ = l.Close()
	expect.NoError(t, <-done, "the end")
}

func checkSentence(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v: want one line with %q", err, want)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	_ = os.Remove(path)
	must.Do(t, os.WriteFile(path, []byte(text), mode))
	must.Do(t, os.Chmod(path, mode))
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(fmt.Errorf("remove: %w", err))
	}
}
