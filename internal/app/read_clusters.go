package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/configfile"
	"shardboard/internal/fault"
	"shardboard/internal/rules"
)

// ReadClusters makes configurations of the clusters of a file. What a cluster does not say is as in
// all, which flags and the server's part of the file make. Mistakes are added to the file.
func ReadClusters(f *configfile.File, all Config, texts ClusterTexts) []ClusterConfig {
	out := make([]ClusterConfig, 0, len(f.Clusters))
	addresses := map[string]configfile.Cluster{}
	for _, c := range f.Clusters {
		one := all.cluster()
		one.Name, one.Title, one.Roles = c.Name, c.Title, auth.ClusterRoles(c.Roles)
		checkGroups(f, c, all.Auth.Mode)
		if address, uri, ok := readAddress(f, c); ok {
			one.URI, one.Cluster.File = uri, c.URIFile // which the connection reads again when it changes
			if first, twice := addresses[address]; twice {
				f.Add(c.At("uri"), "cluster %s has the address of cluster %s (line %d): remove one of the two", c.Name, first.Name, first.Line)
			}
			addresses[address] = c
		}
		read(f, c, "profile", c.Profile, ReadProfile, &one.Profile)
		read(f, c, "alerts", c.Alerts, ReadAlerts, &one.Alerts)
		read(f, c, "maintenance-window", c.Maintenance, ReadMaintenance, &one.Maintenance)
		read(f, c, "severity-bounds", c.SeverityBounds, rules.ParseBounds, &one.Bounds)
		read(f, c, "approval-bytes", c.ApprovalBytes, ReadApprovalBytes, &one.Approval.Rules.Bytes)
		read(f, c, "approval-kinds", c.ApprovalKinds, actions.ParseApprovalKinds, &one.Approval.Rules.Kinds)
		if c.ApprovalChunks != nil {
			read(f, c, "approval-chunks", *c.ApprovalChunks, ReadApprovalChunks, &one.Approval.Rules.Chunks)
		}
		if c.ApprovalWait != nil {
			read(f, c, "approval-wait", *c.ApprovalWait, ReadApprovalWait, &one.Approval.Wait)
		}
		if err := one.Approval.checkSignIn(all.Auth.Mode); err != nil && all.Approval.checkSignIn(all.Auth.Mode) == nil {
			f.Add(c.Line, "%s", fault.Text(err))
		}
		if c.ProjectSizes != nil {
			read(f, c, "project-sizes-per-minute", *c.ProjectSizes, HoldingsPerMinute, &one.HoldingsPerMinute)
		}
		if c.Actions != nil {
			one.Actions = *c.Actions
		}
		if c.HideBounds != nil {
			one.HideBounds = *c.HideBounds
		}
		one.Settings = fingerprint(c, texts)
		out = append(out, one)
	}
	return out
}

// checkGroups refuses roles of groups where nobody has groups: they would look as if they counted.
func checkGroups(f *configfile.File, c configfile.Cluster, mode string) {
	if auth.Mode(mode).Has(auth.ModeOIDC) {
		return
	}
	for who := range c.Roles {
		if auth.IsGroup(who) {
			f.Add(c.RoleAt(who), "roles: %s counts with auth: oidc only, because groups come from the issuer, and auth is %s", who, mode)
		}
	}
}

// ClusterTexts are the server's values of the keys that a cluster may have too, as they were given.
type ClusterTexts map[string]string

// read replaces a value by that of a cluster's key, if it was given.
func read[T, V any](f *configfile.File, c configfile.Cluster, key string, text T, parse func(T) (V, error), into *V) {
	if !c.Has(key) {
		return
	}
	value, err := parse(text)
	if err != nil {
		f.Add(c.At(key), "%s: %s", key, strings.ReplaceAll(fault.Text(err), "--"+key, key))
		return
	}
	*into = value
}

// variable is a reference to the environment.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// readAddress reads the address of a cluster; ok is false after a mistake. The text tells addresses apart.
func readAddress(f *configfile.File, c configfile.Cluster) (text string, uri cluster.URI, ok bool) {
	var err error
	key := "uri"
	switch {
	case c.URIFile != "":
		key, text = "uri-file", "file "+c.URIFile
		uri, err = cluster.ReadURI(c.URIFile)
	case c.URI != "":
		var missing []string
		text = variable.ReplaceAllStringFunc(c.URI, func(name string) string {
			value, set := os.LookupEnv(name[2 : len(name)-1])
			if !set {
				missing = append(missing, name)
			}
			return value
		})
		if len(missing) > 0 {
			f.Add(c.At(key), "uri: the environment has no %s: set it, or write the address", strings.Join(missing, ", "))
			return "", uri, false
		}
		if holdsLiteralSecret(c.URI) && !refuseSecret(f, c.At(key), key) {
			return "", uri, false
		}
		uri, err = cluster.ParseURI(text)
	default:
		return "", uri, false // was said already
	}
	if err != nil {
		f.Add(c.At(key), "%s: %s", key, fault.Text(err))
		return "", uri, false
	}
	return text, uri, true
}

// fingerprint differs when the parts of a cluster have to be made anew: when a value differs, or the
// content of a file that it names. Roles are not in it, because they change without that. The address
// of a uri-file is not either: the connection reads the file again by itself.
func fingerprint(c configfile.Cluster, texts ClusterTexts) string {
	h := sha256.New()
	add := func(key, own string) {
		value := own
		if !c.Has(key) {
			value = texts[key]
		}
		fmt.Fprintf(h, "%s=%q\n", key, value)
		if (key == "profile" || key == "alerts") && value != "" {
			data, _ := os.ReadFile(filepath.Clean(value)) // one that cannot be read was refused before
			fmt.Fprintf(h, "%x\n", sha256.Sum256(data))
		}
	}
	add("title", c.Title)
	add("uri", variable.ReplaceAllStringFunc(c.URI, func(name string) string { return os.Getenv(name[2 : len(name)-1]) }))
	add("uri-file", c.URIFile)
	add("profile", c.Profile)
	add("alerts", c.Alerts)
	add("maintenance-window", strings.Join(c.Maintenance, ";"))
	add("severity-bounds", strings.Join(c.SeverityBounds, ","))
	add("approval-bytes", c.ApprovalBytes)
	add("approval-chunks", optional(c.ApprovalChunks))
	add("approval-kinds", strings.Join(c.ApprovalKinds, ","))
	add("approval-wait", optional(c.ApprovalWait))
	add("actions", optional(c.Actions))
	add("hide-bounds", optional(c.HideBounds))
	add("project-sizes-per-minute", optional(c.ProjectSizes))
	return hex.EncodeToString(h.Sum(nil))
}

func optional[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}
