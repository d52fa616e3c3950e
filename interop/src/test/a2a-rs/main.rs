//! Calls one method of the Rust client. Prints its results as JSON of version 1.0 of the protocol.
//!
//! Usage: driver METHOD AGENT_URL REQUEST, where REQUEST is the request of that method, as JSON

use std::error::Error;

use a2a_client::agent_card::AgentCardResolver;
use a2a_client::{A2AClientFactory, BoxStream};
use futures::StreamExt;
use serde::Serialize;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, method, url, request] = &arguments[..] else {
        return Err("usage: driver METHOD AGENT_URL REQUEST".into());
    };
    let card = AgentCardResolver::new(None).resolve(url).await?;
    let client = A2AClientFactory::builder().build().create_from_card(&card).await?;
    match method.as_str() {
        "card" => print(&card),
        "send" => print(&client.send_message(&serde_json::from_str(request)?).await?),
        "stream" => print_all(client.send_streaming_message(&serde_json::from_str(request)?).await?).await,
        "get" => print(&client.get_task(&serde_json::from_str(request)?).await?),
        "list" => print(&client.list_tasks(&serde_json::from_str(request)?).await?),
        "cancel" => print(&client.cancel_task(&serde_json::from_str(request)?).await?),
        "subscribe" => print_all(client.subscribe_to_task(&serde_json::from_str(request)?).await?).await,
        "push-create" => print(&client.create_push_config(&serde_json::from_str(request)?).await?),
        "push-list" => print(&client.list_push_configs(&serde_json::from_str(request)?).await?),
        "push-delete" => print(&client.delete_push_config(&serde_json::from_str(request)?).await?),
        _ => Err(format!("method \"{method}\": unknown").into()),
    }
}

async fn print_all<T: Serialize, E: Error + 'static>(
    mut events: BoxStream<'static, Result<T, E>>,
) -> Result<(), Box<dyn Error>> {
    while let Some(event) = events.next().await {
        print(&event?)?;
    }
    Ok(())
}

fn print<T: Serialize>(value: &T) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string(value)?);
    Ok(())
}
