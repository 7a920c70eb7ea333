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

// parseVersion parses a version such as "8.0.0-rc1". ok is false for text without a major release: no release is
// better than a wrong one.
func parseVersion(s string) (v version, ok bool) {
	s, _, _ = strings.Cut(s, "-") // release candidates have a suffix
	for i, part := range strings.SplitN(s, ".", 3) {
		n, err := strconv.Atoi(part)
		if i < 2 && (err != nil || n < 0) {
			return version{}, false
		}
		v[i] = max(n, 0)
	}
	return v, v[0] > 0
}

// release is the server's release: the one of the newest buildInfo, which is asked for when nothing has asked before.
// There is no default, because what depends on the release would then be computed for another one. It fails
// when the release cannot be learned.
func (c *Client) release(ctx context.Context) (version, error) {
	if v := c.version.Load(); v != nil {
		return *v, nil
	}
	build, err := c.buildInfo(ctx)
	if err != nil {
		return version{}, err
	}
	text, _ := build.Lookup("version").StringValueOK()
	v, ok := parseVersion(text)
	if !ok {
		return version{}, fault.New(fault.Unavailable, "The release of the cluster is not known: buildInfo answers the version %s.",
			quoted(text))
	}
	c.version.CompareAndSwap(nil, &v) // a newer answer stays
	return v, nil
}

func (c *Client) buildInfo(ctx context.Context) (bson.Raw, error) {
	return c.one(ctx, "admin", bson.D{{Key: "buildInfo", Value: 1}}, readOp{what: "ask for the version"})
}

// Server reads hello, buildInfo and the cluster id, which is empty if config.version
// may not be read. It fails with topology.OtherCluster when another cluster answers than at first.
func (c *Client) Server(ctx context.Context) (topology.ServerInfo, error) {
	id, err := c.identify(ctx)
	if err != nil {
		return topology.ServerInfo{}, err
	}
	build, err := c.buildInfo(ctx)
	if err != nil {
		return topology.ServerInfo{}, err
	}
	info := topology.ServerInfo{Hosts: c.hosts(), ClusterID: id}
	info.Version, _ = build.Lookup("version").StringValueOK()
	info.Product, info.ProductVersion = c.productOf(build)
	if v, ok := parseVersion(info.Version); ok {
		c.version.Store(&v)
		c.legacy.Store(!v.atLeast(5, 0, 0))
	} else {
		c.version.Store(nil) // the cluster may have been replaced
	}

	return info, nil
}

// identify makes sure that a mongos answers now, by one hello, and that its cluster is the one
// that answered first.
func (c *Client) identify(ctx context.Context) (id string, err error) {
	p, err := c.take(ctx)
	if err != nil {
		return "", err
	}
	defer p.release()
	if !p.verified.Load() {
		err = c.verify(ctx, p)
	} else {
		err = c.requireMongos(ctx, p)
	}
	if err != nil {
		return "", err
	}
	if id, err = c.clusterIDOf(ctx, p); err != nil {
		return "", err
	}
	return id, c.checkID(p, id)
}

// ClusterID is the ObjectId of config.version in hex, or "" if that may not be read.
func (c *Client) ClusterID(ctx context.Context) (id string, err error) {
	p, err := c.use(ctx)
	if err != nil {
		return "", err
	}
	defer p.release()
	return c.clusterIDOf(ctx, p)
}

// clusterIDOf is the id of the cluster that a pool reaches, whichever that is.
func (c *Client) clusterIDOf(ctx context.Context, p *pool) (id string, err error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	cmd := find("version", bson.D{}, append(singleBatch(1), fields("clusterId"), withMajority)...)
	reply, err := p.run(ctx, "config", cmd)
	if err != nil && connectionBroken(ctx, err) {
		reply, err = p.run(ctx, "config", cmd)
	}
	read := findOn("version", "read the cluster id")
	if err = c.classify(ctx, err, read.what, read.privilege); fault.Of(err) == fault.Forbidden {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if oid, ok := reply.Lookup("cursor", "firstBatch", "0", "clusterId").ObjectIDOK(); ok {
		id = hex.EncodeToString(oid[:])
	}
	return id, nil
}
