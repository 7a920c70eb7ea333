package words

// inflight are the sentences about migrations under way.
var inflight = map[string]string{}
