package simcluster

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/wire"
)

// hello describes this mongos to a driver; isMaster and ismaster are older names.
// Compression and exhaust cursors are not supported, so the fields that would offer
// them are absent.
func (c *Cluster) hello(ctx context.Context, r *engine.Request) (bson.D, error) {
	if r.Conn != nil {
		if client, ok := r.Lookup("client").DocumentOK(); ok && r.Conn.Client == nil {
			r.Conn.Client = client
			r.Conn.App, _ = client.Lookup("application", "name").StringValueOK()
		}
	}
	if err := c.awaitTopologyChange(ctx, r); err != nil {
		return nil, err
	}
	primary := "ismaster"
	if r.Name == "hello" {
		primary = "isWritablePrimary"
	}
	var id int32
	if r.Conn != nil {
		id = r.Conn.ID
	}
	reply := value.D(primary, true, "msg", "isdbgrid",
		value.When(c.version.atLeast(4, 4, 2), "topologyVersion", value.D("processId", c.process, "counter", int64(0))),
		value.When(truthy(r.Lookup("helloOk")), "helloOk", true), "maxBsonObjectSize", int32(maxDocument),
		"maxMessageSizeBytes", int32(wire.MaxMessage), "maxWriteBatchSize", int32(maxWriteBatch),
		"localTime", bson.NewDateTimeFromTime(c.catalog.Now()),
		"logicalSessionTimeoutMinutes", int32(sessionLife/time.Minute), "connectionId", id,
		"maxWireVersion", c.version.wire, "minWireVersion", int32(0))
	if r.Conn != nil && (hasKey(r.Body, "saslSupportedMechs") || hasKey(r.Body, "speculativeAuthenticate")) {
		reply = append(reply, c.access.Of(r.Conn).Hello(r)...)
	}
	return reply, nil
}

// awaitTopologyChange delays the answer to a streaming monitor until maxAwaitTimeMS is
// over or the cluster closes. The topology never changes.
func (c *Cluster) awaitTopologyChange(ctx context.Context, r *engine.Request) error {
	known, ok := r.Lookup("topologyVersion").DocumentOK()
	wait := r.Lookup("maxAwaitTimeMS")
	if !ok || wait.Type == 0 {
		return nil
	}
	ms, ok := wholeNumber(wait)
	if !ok || ms < 0 {
		return status.Errorf(status.BadValue, "maxAwaitTimeMS must be a non-negative integer")
	}
	if id, ok := known.Lookup("processId").ObjectIDOK(); !ok || id != c.process {
		return nil // the monitor knows an earlier process: answer at once
	}
	select {
	case <-time.After(min(time.Duration(ms), 60_000) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hostname and port are how the simulated mongos names itself.
const (
	hostname   = "sim"
	routerPort = 27099
)

// always is a command with a constant answer.
func always(pairs ...any) engine.Handler {
	return func(context.Context, *engine.Request) (bson.D, error) { return value.D(pairs...), nil }
}

func (c *Cluster) buildInfo(context.Context, *engine.Request) (bson.D, error) {
	p := c.version.parts
	disabled := value.D("running", "disabled", "compiled", "disabled")
	environment := bson.D{}
	for _, k := range []string{"distmod", "distarch", "cc", "ccflags", "cxx", "cxxflags", "linkflags", "target_arch",
		"target_os", "cppdefines"} {
		environment = append(environment, bson.E{Key: k, Value: ""})
	}
	return value.D("version", c.version.release, "gitVersion", c.version.git, "modules", bson.A{},
		"allocator", "system", "javascriptEngine", "none", "sysInfo", "deprecated",
		"versionArray", bson.A{int32(p[0]), int32(p[1]), int32(p[2]), int32(0)}, "openssl", disabled,
		"buildEnvironment", environment, "bits", int32(64), "debug", false, "maxBsonObjectSize", int32(maxDocument)), nil
}

// getParameter answers a parameter, or all for "*". A mongos has
// featureCompatibilityVersion from 8.0 on.
func (c *Cluster) getParameter(_ context.Context, r *engine.Request) (bson.D, error) {
	all := value.D("cursorTimeoutMillis", cursorLife.Milliseconds(),
		"localLogicalSessionTimeoutMinutes", int32(sessionLife.Minutes()), "enableTestCommands", false,
		"logLevel", int32(0), "quiet", false)
	if s, ok := r.Lookup("getParameter").StringValueOK(); ok && s == "*" {
		return all, nil
	}
	var found bson.D
	for _, p := range all {
		if hasKey(r.Body, p.Key) {
			found = append(found, p)
		}
	}
	if c.version.atLeast(8, 0, 0) && hasKey(r.Body, "featureCompatibilityVersion") {
		fcv := fmt.Sprintf("%d.%d", c.version.parts[0], c.version.parts[1])
		found = append(found, bson.E{Key: "featureCompatibilityVersion", Value: value.D("version", fcv)})
	}
	if len(found) == 0 {
		if c.version.atLeast(8, 0, 0) {
			return nil, status.Errorf(status.InvalidOptions, "no option found to get")
		}
		return nil, status.Plain("no option found to get")
	}
	return found, nil
}

func (c *Cluster) getCmdLineOpts(context.Context, *engine.Request) (bson.D, error) {
	config := c.catalog.Host(configShard)
	return value.D("argv", bson.A{"mongos", "--configdb", config, "--port", fmt.Sprint(routerPort)},
		"parsed", value.D("net", value.D("port", int32(routerPort)),
			"sharding", value.D("configDB", config))), nil
}

func (c *Cluster) hostInfo(context.Context, *engine.Request) (bson.D, error) {
	return value.D("system", value.D("currentTime", bson.NewDateTimeFromTime(c.catalog.Now()),
		"hostname", fmt.Sprintf("%s:%d", hostname, routerPort), "cpuAddrSize", int32(64),
		"memSizeMB", int64(4096), "memLimitMB", int64(4096), "numCores", int32(runtime.NumCPU()),
		"cpuArch", "x86_64", "numaEnabled", false),
		"os", value.D("type", "Linux", "name", "simulated", "version", ""), "extra", bson.D{}), nil
}

func (c *Cluster) whatsMyURI(_ context.Context, r *engine.Request) (bson.D, error) {
	remote := ""
	if r.Conn != nil {
		remote = r.Conn.Remote
	}
	return value.D("you", remote), nil
}

// getLog returns no lines; the simulated cluster logs to Options.Log.
func (c *Cluster) getLog(_ context.Context, r *engine.Request) (bson.D, error) {
	name, ok := r.Lookup("getLog").StringValueOK()
	switch {
	case !ok:
		return nil, wrongType("getLog.getLog", r.Lookup("getLog"), "string")
	case name == "*":
		return value.D("names", bson.A{"global", "startupWarnings"}), nil
	case name == "global" || name == "startupWarnings":
		return value.D("totalLinesWritten", int32(0), "log", bson.A{}), nil
	}
	return nil, status.Errorf(status.OperationFailed, "No log named '%s'", name)
}

// serverInfo is the block of that name in explain.
func (c *Cluster) serverInfo(shard string) bson.D {
	port := int32(routerPort)
	if shard != "" {
		_, address, _ := strings.Cut(c.catalog.Host(shard), "/")
		_, p, _ := strings.Cut(address, ":")
		_, _ = fmt.Sscan(p, &port)
	}
	return value.D("host", hostname, "port", port, "version", c.version.release, "gitVersion", c.version.git)
}
