// Command release makes everything that a release consists of, from a checkout and without Docker: static
// binaries in archives, a bill of materials for each, the container image, the Helm chart and checksums. The same
// sources, version and Go release give the same bytes, wherever they are and whoever builds them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// release says what to make.
type release struct {
	source  string    // root of the checkout
	out     string    // directory of the results
	version string    // as `shardboard version` prints it
	time    time.Time // of the commit: the date of every file inside archives and image
	targets []target
}

// target is a system that binaries are made for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	extras, err := r.extras(ctx)
	if err != nil {
		return err
	}
	var images []platformImage
	var made []string
	for _, t := range r.targets {
		b, err := r.build(ctx, t)
		if err != nil {
			return err
		}
		files, err := r.pack(b, extras)
		if err != nil {
			return err
		}
		made = append(made, files...)
		if t.os == "linux" {
			img, err := r.image(b)
			if err != nil {
				return err
			}
			images = append(images, platformImage{t, img})
		}
	}
	chart, err := r.packChart()
	if err != nil {
		return err
	}
	made = append(made, chart)
	if len(images) > 0 {
		file, err := r.writeImages(images)
		if err != nil {
			return err
		}
		made = append(made, file)
	}
	return r.writeChecksums(made)
}

// parse reads the command line. The time is SOURCE_DATE_EPOCH or else that of the last commit.
func parse(args []string) (release, error) {
	var r release
	var targets string
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.source, "source", "..", "root of the checkout")
	flags.StringVar(&r.out, "out", "../dist", "directory for the results")
	flags.StringVar(&r.version, "version", "", "version, as `git describe` prints it")
	flags.StringVar(&targets, "targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "systems to build for")
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	if r.version == "" || strings.ContainsAny(r.version, " /\\'\"") {
		return r, fmt.Errorf("the version %q is empty or cannot be part of a file name", r.version)
	}
	for text := range strings.SplitSeq(targets, ",") {
		system, arch, ok := strings.Cut(text, "/")
		if !ok {
			return r, fmt.Errorf("the target %q is not like linux/amd64", text)
		}
		r.targets = append(r.targets, target{system, arch})
	}
	var err error
	if r.source, err = filepath.Abs(r.source); err != nil {
		return r, err
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return r, err
	}
	r.time, err = sourceTime(r.source)
	return r, err
}

// sourceTime is the moment that all files in the archives are dated.
func sourceTime(source string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", source, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("read the time of the last commit (or set SOURCE_DATE_EPOCH): %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
