package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

const testVersion = "v0.0.0-test"

var (
	once   sync.Once
	made   string // folder of the release of this checkout for Linux
	failed error
)

// madeHere makes a release of this checkout, once for all tests.
func madeHere(t *testing.T) string {
	t.Helper()
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("a long test: set SHARDBOARD_LONG=1")
	}
	once.Do(func() {
		if made, failed = os.MkdirTemp("", "release"); failed == nil {
			failed = run(t.Context(), []string{"-source", "../..", "-out", made, "-version", testVersion, "-targets", "linux/amd64,linux/arm64"})
		}
	})
	if failed != nil {
		t.Fatal(failed)
	}
	return made
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(made)
	os.Exit(code)
}

// Another folder, another umask and, in make long, another build cache: archives, image and bill of materials are the
// same bytes.
func TestAReleaseIsTheSameFromAnotherFolderAndCache(t *testing.T) {
	here := madeHere(t)
	copied := filepath.Join(t.TempDir(), "a folder with another name")
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard").Output()
	must(t, err)
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		data, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // removed
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(copied, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), data, 0o600)
		}
		must(t, err)
	}
	when, err := sourceTime("../..")
	must(t, err)
	t.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(when.Unix(), 10))
	if os.Getenv("SHARDBOARD_LONG") == "hours" { // all is compiled again
		t.Setenv("GOCACHE", t.TempDir())
	}
	there := t.TempDir()
	must(t, run(t.Context(), []string{"-source", copied, "-out", there, "-version", testVersion, "-targets", "linux/amd64"}))
	sums := string(read(t, filepath.Join(here, "SHA256SUMS")))
	same := 0
	for line := range strings.Lines(string(read(t, filepath.Join(there, "SHA256SUMS")))) {
		if !strings.Contains(line, "_amd64") && !strings.Contains(line, "_chart") {
			continue // the image file has one architecture there and two here
		}
		if same++; !strings.Contains(sums, line) {
			t.Errorf("there: %shere:\n%s", line, sums)
		}
	}
	if same != 3 || strings.Count(sums, "\n") != 6 {
		t.Errorf("%d files were compared, of those here:\n%s", same, sums)
	}
	digests := map[string]v1.Hash{}
	for _, dir := range []string{here, there} {
		digest, err := images(t, dir)["linux/amd64"].Digest()
		must(t, err)
		digests[dir] = digest
	}
	if digests[here] != digests[there] {
		t.Errorf("the images are %v", digests)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = here
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func TestTheArchiveHasProgramLicencesAndUnit(t *testing.T) {
	dir := "shardboard_0.0.0-test_linux_amd64"
	got := map[string]bool{}
	for _, h := range headers(t, read(t, filepath.Join(madeHere(t), dir+".tar.gz"))) {
		got[strings.TrimPrefix(h.Name, dir+"/")] = true
	}
	for _, want := range []string{"shardboard", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "THIRD-PARTY-LICENSES",
		"systemd/shardboard.service", "docs/install.md", "docs/change-examples.sh", "docs/playbooks/hot-project.md", "docs/runbooks/README.md",
		"man/shardboard.1", "completions/shardboard.bash", "completions/_shardboard", "completions/shardboard.fish"} {
		if !got[want] {
			t.Errorf("no %s in the archive: %v", want, got)
		}
	}
}

// Static: it needs no loader, so it runs in an image that has nothing else.
func TestTheProgramIsStaticAndSaysItsVersion(t *testing.T) {
	bin := filepath.Join(madeHere(t), "build/linux_amd64/shardboard")
	out, err := exec.CommandContext(t.Context(), bin, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "shardboard "+testVersion+" ") {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := exec.CommandContext(t.Context(), "file", bin).Output(); err == nil && !strings.Contains(string(out), "statically linked") {
		t.Errorf("%s", out)
	}
}

func TestTheBillOfMaterialsHasEveryModuleOfTheBinary(t *testing.T) {
	dir := madeHere(t)
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(read(t, filepath.Join(dir, "shardboard_0.0.0-test_linux_amd64.cdx.json"))),
		cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Version != testVersion {
		t.Errorf("format %q, of version %q", bom.BOMFormat, bom.Metadata.Component.Version)
	}
	listed := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		listed[c.Name] = c
		if c.Licenses == nil || len(*c.Licenses) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
	}
	info, err := buildinfo.ReadFile(filepath.Join(dir, "build/linux_amd64/shardboard"))
	must(t, err)
	if len(info.Deps) < 20 || len(listed) != len(info.Deps)+1 {
		t.Errorf("%d modules are listed, the binary has %d and the standard library", len(listed), len(info.Deps))
	}
	for _, m := range info.Deps {
		hash, err := hashOf(m.Sum)
		c := listed[m.Path]
		if err != nil || c.Version != m.Version || c.Hashes == nil || (*c.Hashes)[0].Value != hash {
			t.Errorf("%s %s %s is listed as %+v", m.Path, m.Version, m.Sum, c)
		}
	}
	if std := listed[standardLibrary]; "go"+std.Version != info.GoVersion {
		t.Errorf("the standard library is listed as %q, the binary says %q", std.Version, info.GoVersion)
	}
}

const mb = 1 << 20

// images reads the images from the file that is released.
func images(t *testing.T, release string) map[string]v1.Image {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	must(t, os.Mkdir(dir, 0o700))
	file := filepath.Join(release, "shardboard_0.0.0-test_image.oci.tar")
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", file, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	top, err := layout.ImageIndexFromPath(dir)
	must(t, err)
	outer, err := top.IndexManifest()
	if err != nil || len(outer.Manifests) != 1 || outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != testVersion {
		t.Fatalf("index %+v, %v", outer, err)
	}
	index, err := top.ImageIndex(outer.Manifests[0].Digest)
	must(t, err)
	inner, err := index.IndexManifest()
	must(t, err)
	out := map[string]v1.Image{}
	for _, m := range inner.Manifests {
		if out[m.Platform.String()], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestTheImageIsSmallWithoutShellAndWithoutRights(t *testing.T) {
	all := images(t, madeHere(t))
	if len(all) != 2 {
		t.Fatalf("images %v", all)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		checkImage(t, arch, all["linux/"+arch])
	}
}

func checkImage(t *testing.T, arch string, img v1.Image) {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	size, err := layers[0].Size()
	if err != nil || size > 25*mb {
		t.Errorf("the image for %s has %d bytes compressed, %v", arch, size, err)
	}
	file, err := img.ConfigFile()
	if err != nil || file.OS != "linux" || file.Architecture != arch {
		t.Fatalf("%s: %+v, %v", arch, file, err)
	}
	got, err := json.Marshal(file.Config)
	must(t, err)
	const want = `{"Cmd":["serve"],"Healthcheck":{"Test":["CMD","/shardboard","healthcheck"],"Interval":15000000000,"Timeout":3000000000,` +
		`"StartPeriod":10000000000},"Entrypoint":["/shardboard"],` +
		`"Env":["SHARDBOARD_DATA_DIR=/data","SHARDBOARD_AUDIT_KEY=/keys/audit.key"],` +
		`"Labels":{"org.opencontainers.image.description":"The dashboard for sharded MongoDB",` +
		`"org.opencontainers.image.licenses":"Apache-2.0","org.opencontainers.image.title":"shardboard",` +
		`"org.opencontainers.image.version":"v0.0.0-test"},"User":"65532:65532","Volumes":{"/data":{},"/keys":{}},"WorkingDir":"/",` +
		`"ExposedPorts":{"8090/tcp":{},"8091/tcp":{}},"StopSignal":"SIGTERM"}`
	if string(got) != want {
		t.Errorf("settings\n%s\nwant\n%s", got, want)
	}
}
