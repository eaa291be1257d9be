//! The pool, with jobs that hang at gates.

use tokio::task::JoinHandle;

use super::*;

type Hanging = (Vec<std::sync::mpsc::Sender<()>>, Vec<JoinHandle<Result<bool, PoolError>>>);

/// As many jobs as there are places; they end when their gates are dropped.
fn hang(pool: &Pool) -> Hanging {
    let job = |_| {
        let (gate, closed) = std::sync::mpsc::channel::<()>();
        let pool = pool.clone();
        (gate, tokio::spawn(async move { pool.run(move || closed.recv().is_err()).await }))
    };
    (0..WORKERS).map(job).unzip()
}

async fn end((gates, jobs): Hanging) {
    drop(gates);
    for job in jobs {
        assert!(job.await.unwrap().unwrap());
    }
}

#[tokio::test]
async fn jobs_that_hang_give_their_places_up() {
    let pool = Pool::new(Duration::from_millis(10), usize::MAX);
    let hanging = hang(&pool);
    while pool.stuck() < WORKERS {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(pool.run(|| 7).await.unwrap(), 7);
    end(hanging).await;
    assert_eq!(pool.stuck(), 0);
}

#[tokio::test]
async fn when_too_many_hang_the_rest_waits_and_takes_no_more_threads() {
    let pool = Pool::new(Duration::from_millis(10), WORKERS);
    let (some, more) = (hang(&pool), hang(&pool));
    while pool.stuck() < WORKERS || lock(&pool.shared).running.len() < WORKERS {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(tokio::time::timeout(Duration::from_millis(100), pool.run(|| 8)).await.is_err());
    assert_eq!(pool.stuck(), WORKERS);
    end(some).await;
    end(more).await;
    assert_eq!((pool.stuck(), pool.run(|| 9).await.unwrap()), (0, 9));
}

#[tokio::test]
async fn jobs_that_wait_take_no_more_threads_than_there_are_places() {
    let pool = Pool::default();
    let hanging = hang(&pool);
    while lock(&pool.shared).running.len() < WORKERS {
        tokio::task::yield_now().await;
    }
    let jobs: Vec<_> = (0..200).map(|_| pool.run(|| std::thread::current().id())).collect();
    end(hanging).await;
    let mut threads = std::collections::HashSet::new();
    for job in jobs {
        threads.insert(job.await.unwrap());
    }
    assert!(threads.len() <= WORKERS, "{} threads", threads.len());
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_any_more_does_not_begin() {
    let pool = Pool::default();
    let (gates, jobs) = hang(&pool);
    while lock(&pool.shared).running.len() < WORKERS {
        tokio::task::yield_now().await;
    }
    let (told, done) = std::sync::mpsc::channel();
    drop(pool.run(move || told.send(())));
    let last = pool.run(|| 7);
    end((gates, jobs)).await;
    assert_eq!(last.await.unwrap(), 7);
    assert!(done.recv().is_err());
}

#[tokio::test]
async fn a_thread_does_the_first_job_that_it_brings_itself_if_it_wants_to() {
    let pool = Pool::default();
    let here = std::thread::current().id();
    let thread = || std::thread::current().id();
    let mut brought = Vec::new();
    let kept = keep_first(|| brought.extend([pool.run(thread), pool.run(thread)])).unwrap();
    kept.run();
    let mut brought = brought.into_iter();
    assert_eq!(brought.next().unwrap().await.unwrap(), here);
    assert_ne!(brought.next().unwrap().await.unwrap(), here);
    drop(keep_first(|| brought = vec![pool.run(thread)].into_iter()).unwrap());
    assert_ne!(brought.next().unwrap().await.unwrap(), here, "dropped, it is the pool's");
    assert!(keep_first(|| ()).is_none());
    assert_ne!(pool.run(thread).await.unwrap(), here);
}

#[tokio::test]
async fn a_job_without_a_place_is_not_kept() {
    let pool = Pool::default();
    let hanging = hang(&pool);
    while lock(&pool.shared).running.len() < WORKERS {
        tokio::task::yield_now().await;
    }
    let mut brought = Vec::new();
    assert!(keep_first(|| brought.push(pool.run(|| 7))).is_none());
    end(hanging).await;
    assert_eq!(brought.remove(0).await.unwrap(), 7);
}

#[tokio::test]
async fn a_panic_is_an_error() {
    let result = Pool::default().run(|| panic!("boom")).await;
    assert!(matches!(result.map(|(): ()| ()), Err(PoolError::Panicked)));
}
