package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// binary is a program that was built, and the modules that are in it.
type binary struct {
	target target
	path   string
	info   *debug.BuildInfo
}

// build compiles the program for one system. What would make two builds differ is left out: paths, the
// version control's state and the build id. There is no C, so the result runs on any Linux. It has no tables for
// debuggers; compiled without them, it has what the tests have compiled.
func (r release) build(ctx context.Context, t target) (binary, error) {
	path := filepath.Join(r.out, "build", t.os+"_"+t.arch, "shardboard")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", path, "./cmd/shardboard")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary{}, fmt.Errorf("build for %s: %w\n%s", t, err, out)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return binary{}, fmt.Errorf("read the modules of %s: %w", path, err)
	}
	return binary{t, path, info}, nil
}
