"use strict";

const given = new URLSearchParams(location.hash.slice(1));
const show = (id, text) => { document.getElementById(id).textContent = text; };
show("agent", given.get("agent") ?? "");
show("task", given.get("task") ?? "");

document.getElementById("form").addEventListener("submit", async event => {
    event.preventDefault();
    const key = document.getElementById("key").value;
    const body = JSON.stringify({
        agent: given.get("agent"),
        taskId: given.get("task"),
        credential: document.getElementById("credential").value,
    });
    const address = location.pathname.replace(/\/ui\/credential$/, "/mcp/credentials");
    const send = headers => fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body,
    });
    let response = await send(key ? { Authorization: "Bearer " + key } : {});
    if (key && response.status === 401) { // a hub may take keys in their own header only
        response = await send({ "X-Api-Key": key });
    }
    const answer = await response.json().catch(() => ({}));
    show("result", response.ok
        ? "Handed over. You can return to your program."
        : answer.error ?? "The hub refused it (status " + response.status + ").");
    document.getElementById("credential").value = "";
});
