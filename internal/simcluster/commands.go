package simcluster

// commandTable holds every command of this mongos; others get CommandNotFound. The
// sharding commands come from the catalog.
func (c *Cluster) commandTable() map[string]command {
	table := map[string]command{
		"hello":     {run: c.hello, stable: true},
		"isMaster":  {run: c.hello},
		"ping":      {run: c.ping, stable: true},
		"buildInfo": {run: c.buildInfo},

		"find":        {run: c.find, stable: true},
		"getMore":     {run: c.getMore, stable: true},
		"killCursors": {run: c.killCursors, stable: true},
		"aggregate":   {run: c.aggregate, stable: true},
		"count":       {run: c.count, stable: c.version.atLeast(5, 0, 9)},
		"distinct":    {run: c.distinct},
		"explain":     {run: c.explain, stable: true},

		"insert":        {run: c.insert, stable: true, retryable: true},
		"update":        {run: c.update, stable: true, retryable: true},
		"delete":        {run: c.delete, stable: true, retryable: true},
		"findAndModify": {run: c.findAndModify, stable: true, retryable: true},

		"create":           {run: c.create, stable: true},
		"drop":             {run: c.drop, stable: true},
		"dropDatabase":     {run: c.dropDatabase, stable: true},
		"renameCollection": {run: c.renameCollection, adminOnly: true},
		"listCollections":  {run: c.listCollections, stable: true},
		"listDatabases":    {run: c.listDatabases, adminOnly: true, stable: true},
		"listIndexes":      {run: c.listIndexes, stable: true},
		"createIndexes":    {run: c.createIndexes, stable: true},
		"dropIndexes":      {run: c.dropIndexes, stable: true},

		"startSession":    {run: c.startSession},
		"endSessions":     {run: c.endSessions, stable: true},
		"killSessions":    {run: c.endSessions},
		"refreshSessions": {run: c.refreshSessions, stable: true},

		"killAllSessionsByPattern": {run: c.killSessionsByPattern},

		"commitTransaction": {run: c.commitTransaction, adminOnly: true, stable: true},
		"abortTransaction":  {run: c.abortTransaction, adminOnly: true, stable: true},

		"collStats":     {run: c.collStats},
		"dataSize":      {run: c.dataSize},
		"dbStats":       {run: c.dbStats},
		"serverStatus":  {run: c.serverStatus},
		"connPoolStats": {run: c.connPoolStats},
		"currentOp":     {run: c.currentOp, adminOnly: true},

		"getParameter":   {run: c.getParameter, adminOnly: true},
		"getCmdLineOpts": {run: c.getCmdLineOpts, adminOnly: true},
		"hostInfo":       {run: c.hostInfo},
		"whatsmyuri":     {run: c.whatsMyURI},
		"getLog":         {run: c.getLog, adminOnly: true},
		"isdbgrid":       {run: c.isdbgrid},
	}
	for name, run := range c.access.Handlers() {
		table[name] = command{run: c.mirroringUsers(name, run), stable: name == "saslStart" || name == "saslContinue" || name == "authenticate"}
	}
	if c.opts.FaultCommand {
		table[faultCommand] = command{run: c.simulateFault, adminOnly: true}
	}
	c.addNewerCommands(table)
	for name, run := range c.catalog.Handlers() {
		if _, own := table[name]; !own {
			table[name] = command{run: run}
		}
	}
	for alias, name := range map[string]string{
		"ismaster": "isMaster", "buildinfo": "buildInfo", "findandmodify": "findAndModify",
		"collstats": "collStats", "datasize": "dataSize", "dbstats": "dbStats",
		"deleteIndexes": "dropIndexes", "isdbGrid": "isdbgrid",
	} {
		table[alias] = table[name]
	}
	return table
}
