package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials lists what is in a binary as CycloneDX JSON: the modules that the linker recorded in it, each with
// version, hash and licence. It is read from the binary, not from go.mod, so it has no module that is not in it.
func (r release) billOfMaterials(b binary, modules []module) ([]byte, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(program)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: "shardboard", Type: cdx.ComponentTypeApplication, Name: "shardboard", Version: r.version,
			PackageURL: "pkg:generic/shardboard@" + r.version + "?os=" + b.target.os + "&arch=" + b.target.arch,
			Licenses:   licensesOf([]string{"Apache-2.0"}),
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}},
		},
	}
	var components []cdx.Component
	var refs []string
	for _, m := range modules {
		c := cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version, Scope: cdx.ScopeRequired,
			PackageURL: "pkg:golang/" + m.path + "@" + strings.ReplaceAll(m.version, "+", "%2B"), Licenses: licensesOf(m.spdx),
		}
		c.BOMRef = c.PackageURL
		if m.path != standardLibrary {
			hash, err := hashOf(m.sum)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.path, err)
			}
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hash}}
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "shardboard", Dependencies: &refs}}
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).Encode(bom); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func licensesOf(ids []string) *cdx.Licenses {
	var out cdx.Licenses
	for _, id := range ids {
		out = append(out, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &out
}

// hashOf turns the hash of go.sum (h1:, base64) into hexadecimal, as CycloneDX writes hashes.
func hashOf(sum string) (string, error) {
	text, ok := strings.CutPrefix(sum, "h1:")
	if !ok {
		return "", fmt.Errorf("the hash %q is not one of go.sum", sum)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("the hash %q is not one of go.sum", sum)
	}
	return hex.EncodeToString(raw), nil
}
