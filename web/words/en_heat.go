package words

// heat are the sentences of surveys, heat, the key visualizer, advice and alerts.
var heat = map[string]string{}
