//! A SOCKS 5 proxy (RFC 1928, 1929). It knows where the hosts of a test really are.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

const HOST_UNREACHABLE: u8 = 4;

#[derive(Clone, Default)]
pub struct Rules {
    /// Host and port, and the port on this machine that it stands for.
    pub hosts: HashMap<String, u16>,
    pub login: Option<(&'static str, &'static str)>,
}

pub struct SocksProxy {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl SocksProxy {
    pub async fn start(rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            asked: Arc::default(),
        };
        let asked = Arc::clone(&proxy.asked);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, rules.clone(), Arc::clone(&asked)));
            }
        });
        proxy
    }

    /// What it was asked to connect to: "name model.test:443" or "address 192.0.2.7:443".
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(mut client: TcpStream, rules: Rules, asked: Arc<Mutex<Vec<String>>>) -> std::io::Result<()> {
    let _version = client.read_u8().await?;
    let mut methods = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut methods).await?;
    let method = if rules.login.is_some() { 2 } else { 0 };
    if !methods.contains(&method) {
        return client.write_all(&[5, 0xff]).await;
    }
    client.write_all(&[5, method]).await?;
    if let Some((user, password)) = rules.login {
        let _version = client.read_u8().await?;
        let given = (text(&mut client).await?, text(&mut client).await?);
        let good = given == (user.to_string(), password.to_string());
        client.write_all(&[1, u8::from(!good)]).await?;
        if !good {
            return Ok(());
        }
    }
    let mut head = [0; 4];
    client.read_exact(&mut head).await?;
    assert_eq!(head[..3], [5, 1, 0]);
    let (kind, host) = match head[3] {
        1 => {
            let mut bytes = [0; 4];
            client.read_exact(&mut bytes).await?;
            ("address", Ipv4Addr::from(bytes).to_string())
        }
        3 => ("name", text(&mut client).await?),
        _ => {
            let mut bytes = [0; 16];
            client.read_exact(&mut bytes).await?;
            ("address", Ipv6Addr::from(bytes).to_string())
        }
    };
    let host = format!("{host}:{}", client.read_u16().await?);
    asked.lock().unwrap().push(format!("{kind} {host}"));
    let Some(port) = rules.hosts.get(&host) else {
        return client
            .write_all(&[5, HOST_UNREACHABLE, 0, 1, 0, 0, 0, 0, 0, 0])
            .await;
    };
    let mut server = TcpStream::connect(("127.0.0.1", *port)).await?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    copy_bidirectional(&mut client, &mut server).await.map(|_| ())
}

async fn text(client: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
