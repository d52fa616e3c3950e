-- What wrk sends: a message with an id of its own each time, as clients must.
local count = 0
local prefix = string.format("wrk-%d-", os.time())

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["A2A-Version"] = "1.0"

function request()
    count = count + 1
    return wrk.format(nil, nil, nil, '{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"messageId":"'
        .. prefix .. count .. '","role":"ROLE_USER","parts":[{"text":"hello"}]}}}')
end
