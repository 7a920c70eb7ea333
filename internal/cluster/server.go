package cluster

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// version is the server's release.
type version [3]int

// atLeast reports whether the release is the given one or a later one.
func (v version) atLeast(major, minor, patch int) bool {
	o := version{major, minor, patch}
	for i := range v {
		if v[i] != o[i] {
			return v[i] > o[i]
		}
	}
	return true
}

func parseVersion(s string) (v version) {
	s, _, _ = strings.Cut(s, "-") // release candidates have a suffix
	for i, part := range strings.SplitN(s, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	return v
}

// release is the last known release; before the first buildInfo an old one, for which
// no newer command is used.
func (c *Client) release() version {
	if v := c.version.Load(); v != nil {
		return *v
	}
	return version{5, 0, 0}
}

// Server reads hello, buildInfo and the cluster id, which is empty if config.version
// may not be read.
func (c *Client) Server(ctx context.Context) (topology.ServerInfo, error) {
	if err := c.requireMongos(ctx); err != nil {
		return topology.ServerInfo{}, err
	}
	build, err := c.one(ctx, "admin", bson.D{{Key: "buildInfo", Value: 1}}, readOp{what: "ask for the version"})
	if err != nil {
		return topology.ServerInfo{}, err
	}
	info := topology.ServerInfo{Hosts: c.uri.Hosts()}
	info.Version, _ = build.Lookup("version").StringValueOK()
	v := parseVersion(info.Version)
	c.version.Store(&v)
	c.legacy.Store(!v.atLeast(5, 0, 0))

	if info.ClusterID, err = c.ClusterID(ctx); err != nil {
		return topology.ServerInfo{}, err
	}
	return info, nil
}

// ClusterID is the ObjectId of config.version in hex, or "" if that may not be read.
func (c *Client) ClusterID(ctx context.Context) (id string, err error) {
	cmd := find("version", bson.D{}, append(singleBatch(1), fields("clusterId"), withMajority)...)
	err = c.each(ctx, "config", cmd, findOn("version", "read the cluster id"), func(doc bson.Raw) error {
		if oid, ok := doc.Lookup("clusterId").ObjectIDOK(); ok {
			id = hex.EncodeToString(oid[:])
		}
		return nil
	})
	if fault.Of(err) == fault.Forbidden {
		return "", nil
	}
	return id, err
}
